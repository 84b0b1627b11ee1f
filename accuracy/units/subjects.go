package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"whatif/accuracy/internal/debian"
	"whatif/accuracy/internal/rig"
)

// subject is a program that was not written for whatif.
type subject struct {
	name string
	// make builds it below dir.
	make func(ctx context.Context, root, dir string, progress io.Writer) (*built, error)
}

// built is a subject that can run.
type built struct {
	name    string
	command []string
	point   string // as -p has it
	input   []byte // which the program reads again and again; nil: nothing
}

var subjects = []subject{{"sqlite", makeSQLite}, {"pbzip2", makePbzip2}, {"nginx", makeNginx}}

func names(list []subject) (all []string) {
	for i := range list {
		all = append(all, list[i].name)
	}
	return all
}

func build(ctx context.Context, root string, s *subject, progress io.Writer) (*built, error) {
	dir := filepath.Join(root, "accuracy", "build", "units")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("building %s: %w", s.name, err)
	}
	b, err := s.make(ctx, root, dir, progress)
	if err != nil {
		return nil, fmt.Errorf("building %s: %w", s.name, err)
	}
	b.name = s.name
	return b, nil
}

// speedtestSize makes a round of SQLite's benchmark short: an experiment should see several.
const speedtestSize = "1"

// makeSQLite builds SQLite's benchmark, speedtest1.c, as a program that repeats it.
func makeSQLite(ctx context.Context, root, dir string, progress io.Writer) (*built, error) {
	source, tree, err := debian.SQLite(ctx, filepath.Join(root, "accuracy", "build", "sqlite"), progress)
	if err != nil {
		return nil, err
	}
	program := filepath.Join(dir, "speedtest")
	err = compiled(ctx, root, program, progress, "gcc", "-O2", "-g", "-w", "-pthread", "-I", filepath.Dir(source),
		"-I", filepath.Join(tree, "test"), "-o", program, "accuracy/units/programs/speedtest.c", source, "-lm", "-ldl")
	return &built{command: []string{program, speedtestSize}, point: "func:progress_done"}, err
}

// makePbzip2 builds pbzip2 with the source of the library that does its work. It compresses its standard input, in
// blocks of 100 kB, with two threads.
func makePbzip2(ctx context.Context, root, dir string, progress io.Writer) (*built, error) {
	tree, err := debian.Source(ctx, dir, "pbzip2", progress)
	if err != nil {
		return nil, err
	}
	library, err := debian.Source(ctx, dir, "bzip2", progress)
	if err != nil {
		return nil, err
	}
	program, object := filepath.Join(dir, "pbzip2"), filepath.Join(dir, "bzip2.o")
	args := []string{"gcc", "-O2", "-g", "-w", "-r", "-o", object}
	for _, name := range []string{"blocksort", "huffman", "crctable", "randtable", "compress", "decompress", "bzlib"} {
		args = append(args, filepath.Join(library, name+".c"))
	}
	if err := compiled(ctx, root, object, progress, args...); err != nil {
		return nil, err
	}
	args = []string{"g++", "-O2", "-g", "-w", "-pthread", "-D_POSIX_PTHREAD_SEMANTICS", "-DUSE_STACKSIZE_CUSTOMIZATION",
		"-I", library, "-o", program}
	for _, name := range []string{"pbzip2.cpp", "BZ2StreamScanner.cpp", "ErrorContext.cpp"} {
		args = append(args, filepath.Join(tree, name))
	}
	if err := compiled(ctx, root, program, progress, append(args, object)...); err != nil {
		return nil, err
	}
	b := &built{command: []string{program, "-c", "-1", "-b1", "-p2"}, point: "func:BZ2_bzBuffToBuffCompress"}
	b.input, err = texts(filepath.Join(library, "*.[ch]"), filepath.Join(library, "sample*.ref"),
		filepath.Join(tree, "*.cpp"))
	return b, err
}

// texts is what the files of some patterns contain, one after the other.
func texts(patterns ...string) (all []byte, err error) {
	for _, p := range patterns {
		files, err := filepath.Glob(p)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", p, err)
		}
		slices.Sort(files)
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				return nil, fmt.Errorf("reading what is compressed: %w", err)
			}
			all = append(all, text...)
		}
	}
	return all, nil
}

// makeNginx builds nginx, and clients for it. The clients start it, and are followed with it.
func makeNginx(ctx context.Context, root, dir string, progress io.Writer) (*built, error) {
	tree, err := debian.Source(ctx, dir, "nginx", progress)
	if err != nil {
		return nil, err
	}
	program, clients := filepath.Join(tree, "objs", "nginx"), filepath.Join(dir, "clients")
	if _, err := os.Stat(program); err != nil {
		fmt.Fprintln(progress, "compiling", program)
		for _, c := range [][]string{
			{"./configure", "--with-cc-opt=-O2 -g", "--without-http_rewrite_module", "--without-http_gzip_module"}, {"make"},
		} {
			if err := debian.Command(ctx, tree, c...); err != nil {
				return nil, err
			}
		}
	}
	if err := compiled(ctx, root, clients, progress, "gcc", "-O2", "-g", "-Wall", "-pthread", "-o", clients,
		"accuracy/production/programs/clients.c"); err != nil {
		return nil, err
	}
	free, err := rig.FreePort()
	if err != nil {
		return nil, err
	}
	port := strconv.Itoa(free)
	place := filepath.Join(dir, "nginx-place")
	if err := serveFrom(place, port); err != nil {
		return nil, fmt.Errorf("preparing nginx: %w", err)
	}
	const sixteen, noPause, long = "16", "0", "100000" // clients, so that cores are hardly ever idle
	return &built{
		// A shell has no symbols. So whatif takes targets for code of what it starts, also before that runs.
		command: []string{"sh", "-c", `exec "$@"`, "sh", clients, "http", port, sixteen, noPause, long,
			program, "-p", place, "-e", "stderr", "-c", filepath.Join(place, "nginx.conf")},
		point: "func:" + program + ":ngx_http_free_request",
	}, nil
}

// serveFrom writes what nginx needs: its configuration and a page. It is one process, which ends with the clients.
func serveFrom(place, port string) error {
	if err := os.MkdirAll(filepath.Join(place, "temp"), 0o755); err != nil {
		return err
	}
	page := "<html>" + strings.Repeat("<p>some text</p>\n", 50) + "</html>\n"
	config := fmt.Sprintf(`daemon off;
master_process off;
pid %[1]s/nginx.pid;
events {}
http {
	default_type text/html;
	access_log /dev/null;
	keepalive_requests 100000000;
	client_body_temp_path %[1]s/temp/body;
	proxy_temp_path %[1]s/temp/proxy;
	fastcgi_temp_path %[1]s/temp/fastcgi;
	uwsgi_temp_path %[1]s/temp/uwsgi;
	scgi_temp_path %[1]s/temp/scgi;
	server { listen 127.0.0.1:%[2]s; root %[1]s; }
}
`, place, port)
	for name, text := range map[string]string{"page.html": page, "nginx.conf": config} {
		if err := os.WriteFile(filepath.Join(place, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compiled runs a compiler, from the checkout's root, unless the program is there and newer than the sources among the
// arguments.
func compiled(ctx context.Context, root, program string, progress io.Writer, args ...string) error {
	if made, err := os.Stat(program); err == nil {
		fresh := true
		for _, a := range args {
			if !filepath.IsAbs(a) {
				a = filepath.Join(root, a)
			}
			if s, err := os.Stat(a); err == nil && s.Mode().IsRegular() && s.ModTime().After(made.ModTime()) {
				fresh = false
			}
		}
		if fresh {
			return nil
		}
	}
	fmt.Fprintln(progress, "compiling", program)
	return debian.Command(ctx, root, args...)
}
