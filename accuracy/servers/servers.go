package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// server is a server with its load, and a change to it that can be predicted.
type server struct {
	name string
	user string // as which it runs
	// prepare makes the files that the server needs.
	prepare func(ctx context.Context, p *place) error
	// command starts the server in the foreground, unchanged or changed. ready is a bash command that succeeds when the
	// server accepts requests.
	command func(p *place, changed bool) []string
	ready   func(p *place) string
	// load is the command of the clients, which make n requests or a few less; made is the exact number.
	load     func(p *place, n int) []string
	made     func(n int) int64
	requests int // the default number, for some seconds
	point    string
	target   string
	change   string // in words
}

// listening is a bash command that succeeds when the port is open. It makes no request.
func listening(p *place) string {
	return fmt.Sprintf("(exec 3<>/dev/tcp/127.0.0.1/%d) 2>/dev/null", p.port)
}

const postgres = "/usr/lib/postgresql/15/bin/"

var servers = []server{
	{
		name: "memcached", user: "memcache", prepare: prepareMemcached,
		command: func(p *place, changed bool) []string {
			hash := "hashpower=12,no_hashexpand"
			if changed {
				hash = "hashpower=20"
			}
			return []string{p.file("memcached"), "-l", "127.0.0.1", "-p", p.portText(), "-U", "0", "-m", "2048",
				"-t", "2", "-o", hash}
		},
		ready: listening,
		// memcslap sets each key, and then each of two threads gets all keys.
		load: func(p *place, n int) []string {
			return []string{"memcslap", "-s", "127.0.0.1:" + p.portText(), "-t", "get", "-c", "2", "-e", fmt.Sprint(n / 3)}
		},
		made:     func(n int) int64 { return int64(n / 3 * 3) },
		requests: 450_000,
		point:    "syscall:sendmsg", target: "func:assoc_find",
		change: "a hash table of 2^20 instead of 2^12",
	},
	{
		name: "nginx", user: "www-data", prepare: prepareNginx,
		command: func(p *place, changed bool) []string {
			gzip := "on"
			if changed {
				gzip = "off"
			}
			return []string{"nginx", "-p", p.dir, "-e", "stderr", "-c", p.file(gzip + ".conf")}
		},
		ready: listening,
		load: func(p *place, n int) []string {
			return []string{"ab", "-q", "-c", "4", "-n", fmt.Sprint(n), "-H", "Accept-Encoding: gzip",
				"http://127.0.0.1:" + p.portText() + "/page.html"}
		},
		made:     func(n int) int64 { return int64(n) },
		requests: 16_000,
		point:    "func:ngx_http_free_request", target: "func:deflate",
		change: "gzip off",
	},
	{
		name: "postgresql", user: "postgres", prepare: preparePostgres,
		command: func(p *place, changed bool) []string {
			plan := "force_custom_plan"
			if changed {
				plan = "force_generic_plan"
			}
			return []string{postgres + "postgres", "-D", p.file("data"), "-p", p.portText(), "-k", p.dir,
				"-c", "listen_addresses=127.0.0.1", "-c", "autovacuum=off", "-c", "plan_cache_mode=" + plan}
		},
		ready: func(p *place) string { return postgres + "pg_isready -q -h 127.0.0.1 -p " + p.portText() },
		load: func(p *place, n int) []string {
			return []string{"pgbench", "-h", "127.0.0.1", "-p", p.portText(), "-U", "postgres", "-n", "-M", "prepared",
				"-f", p.file("join.sql"), "-c", "2", "-t", fmt.Sprint(n / 2), "postgres"}
		},
		made:     func(n int) int64 { return int64(n / 2 * 2) },
		requests: 120_000,
		point:    "usdt:postgresql:query__execute__done", target: "func:GetCachedPlan",
		change: "plan_cache_mode = force_generic_plan",
	},
}

// prepareMemcached copies the program and puts a file with its symbols beside it, because Debian's program has none.
func prepareMemcached(ctx context.Context, p *place) error {
	found, err := symbols(ctx, p.root, p.progress)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(found)
	if err != nil {
		return fmt.Errorf("preparing: %w", err)
	}
	if err := p.write(filepath.Base(found), string(text)); err != nil {
		return err
	}
	return p.command(ctx, "cp", "/usr/bin/memcached", p.dir)
}

func prepareNginx(_ context.Context, p *place) error {
	var page strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&page, "<tr><td>%d</td><td>%x</td></tr>\n", i, i*i*2654435761)
	}
	if err := p.write("page.html", page.String()); err != nil {
		return err
	}
	for _, gzip := range []string{"on", "off"} {
		text := fmt.Sprintf(`daemon off;
worker_processes 1;
pid %[1]s/nginx.pid;
events {}
http {
	default_type text/html;
	access_log off;
	gzip %[3]s;
	gzip_comp_level 6;
	gzip_http_version 1.0; # which is ab's
	keepalive_requests 100000000;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	server { listen 127.0.0.1:%[2]d; root %[1]s; }
}
`, p.dir, p.port, gzip)
		if err := p.write(gzip+".conf", text); err != nil {
			return err
		}
	}
	return nil
}

func preparePostgres(ctx context.Context, p *place) error {
	if err := p.command(ctx, postgres+"initdb", "-A", "trust", "-U", "postgres", "-D", p.file("data")); err != nil {
		return err
	}
	tables := `CREATE TABLE branch(bid int PRIMARY KEY, name text);
CREATE TABLE account(aid int PRIMARY KEY, bid int REFERENCES branch, balance int);
INSERT INTO branch SELECT i, 'branch ' || i FROM generate_series(1, 10) i;
INSERT INTO account SELECT i, 1 + i % 10, i FROM generate_series(1, 100000) i;
`
	if err := p.write("tables.sql", tables); err != nil {
		return err
	}
	join := "\\set aid random(1, 100000)\n" +
		"SELECT name, balance FROM account JOIN branch USING (bid) WHERE aid = :aid;\n"
	if err := p.write("join.sql", join); err != nil {
		return err
	}
	// In single-user mode each line is a command. ANALYZE comes last, so that the planner knows the tables.
	return p.command(ctx, "sh", "-c", fmt.Sprintf("(cat %s; echo ANALYZE) | %spostgres --single -D %s postgres",
		p.file("tables.sql"), postgres, p.file("data")))
}

func (p *place) write(name, text string) error {
	if err := os.WriteFile(p.file(name), []byte(text), 0o644); err != nil {
		return fmt.Errorf("preparing: %w", err)
	}
	return nil
}
