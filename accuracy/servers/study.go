package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// study measures one server.
type study struct {
	whatif   string
	server   *server
	place    *place
	requests int
	rounds   int
	progress io.Writer

	inside, outside prediction
	gains           []float64 // the real gains, one for each round
}

// prediction has whatif's figures of a run.
type prediction struct {
	share  float64
	visits int64
	gain   analyze.Estimate
}

func (s *study) run(ctx context.Context, root string) (err error) {
	if s.place, err = newPlace(root, s.server.user, s.progress); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.place.remove()) }()
	if err := s.server.prepare(ctx, s.place); err != nil {
		return err
	}
	s.say("clients outside")
	if s.outside, err = s.predict(ctx, false); err != nil {
		return err
	}
	s.say("clients inside")
	if s.inside, err = s.predict(ctx, true); err != nil {
		return err
	}
	return s.truth(ctx)
}

func (s *study) say(what string) {
	fmt.Fprintf(s.progress, "%s %s: %s\n", time.Now().Format("15:04:05"), s.server.name, what)
}

// script runs a server and its clients. Its exit status is that of the clients.
const script = `"${@:1:$SERVER_WORDS}" & server=$!
trap 'kill $server 2>/dev/null' EXIT
until eval "$READY"; do kill -0 $server || exit 1; sleep 0.05; done
"${@:$SERVER_WORDS + 1}" && kill $server && { wait $server; true; }`

// predict asks whatif for a prediction. whatif starts the clients if they are inside; else this command starts them.
func (s *study) predict(ctx context.Context, inside bool) (p prediction, err error) {
	file := s.place.file("whatif.profile")
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return p, fmt.Errorf("predicting: %w", err)
	}
	args := []string{"run", "--quiet", "--repeat", "1", "--user", s.place.user, "-o", file,
		"-p", "done=" + s.pointIn(), "-t", s.server.target, "-s", "0,50,100", "--"}
	server, load := s.server.command(s.place, false), s.server.load(s.place, s.requests)
	if inside {
		args = append(args, "bash", "-c", script, "bash")
		args = append(args, server...)
		args = append(args, load...)
	} else {
		args = append(args, server...)
	}
	cmd := exec.CommandContext(ctx, s.whatif, args...)
	cmd.Dir = s.place.dir
	cmd.Env = append(os.Environ(), fmt.Sprintf("SERVER_WORDS=%d", len(server)), "READY="+s.server.ready(s.place))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // whatif then ends the server
	r, err := start(cmd)
	if err != nil {
		return p, fmt.Errorf("predicting: %w", err)
	}
	if inside {
		<-r.ended
		err = r.err
		if err != nil {
			err = fmt.Errorf("predicting: %w\n%s", err, r.said.String())
		}
	} else {
		if err = r.untilReady(ctx, s.place, s.server.ready(s.place)); err == nil {
			err = s.place.command(ctx, load...)
		}
		err = errors.Join(err, r.stop())
	}
	if err != nil {
		return p, err
	}
	return s.read(file)
}

// pointIn names the point with the path of the server's program. Inside, whatif starts bash, which does not have the
// point.
func (s *study) pointIn() string {
	words := s.server.command(s.place, false)
	program := words[0]
	if found, err := exec.LookPath(program); err == nil {
		program = found
	}
	kind, name, _ := strings.Cut(s.server.point, ":")
	if kind == "func" && filepath.IsAbs(program) {
		return kind + ":" + program + ":" + name
	}
	return s.server.point
}

func (s *study) read(file string) (prediction, error) {
	runs, err := profile.ReadFiles([]string{file})
	if err != nil {
		return prediction{}, fmt.Errorf("predicting: %w", err)
	}
	if len(runs) != 1 || runs[0].End == nil || len(runs[0].End.Visits) == 0 {
		return prediction{}, errors.New("predicting: the profile is not of one whole run")
	}
	p := prediction{visits: runs[0].End.Visits[0], gain: analyze.Estimate{Value: math.NaN()}}
	for _, t := range analyze.Analyze(runs, analyze.Options{}).Targets {
		if t.Tried == 0 || len(t.Effects) == 0 {
			continue
		}
		p.share = t.Share
		if e, ok := t.Effects[0].At(100); ok {
			p.gain = e
		}
	}
	if want := s.server.made(s.requests); p.visits != want {
		return p, fmt.Errorf("predicting: %d visits of %s were counted, and %d requests made", p.visits, s.server.point, want)
	}
	if math.IsNaN(p.gain.Value) {
		return p, fmt.Errorf("predicting: nothing is known of %s: the run was too short", s.server.target)
	}
	return p, nil
}

// truth runs the server unchanged and changed alternately. A changed run is compared only with the runs before and
// after it, because the speed of a shared machine drifts.
func (s *study) truth(ctx context.Context) error {
	if s.rounds == 0 {
		return nil
	}
	before, err := s.took(ctx, false)
	if err != nil {
		return err
	}
	for i := range s.rounds {
		s.say(fmt.Sprintf("really, round %d of %d", i+1, s.rounds))
		changed, err := s.took(ctx, true)
		if err != nil {
			return err
		}
		after, err := s.took(ctx, false)
		if err != nil {
			return err
		}
		s.gains = append(s.gains, 100*(1-changed.Seconds()/math.Sqrt(before.Seconds()*after.Seconds())))
		before = after
	}
	return nil
}

// took runs the server, and returns the time that it took for all requests.
func (s *study) took(ctx context.Context, changed bool) (time.Duration, error) {
	r, err := start(s.place.as(ctx, s.server.command(s.place, changed)...))
	if err != nil {
		return 0, fmt.Errorf("starting the server: %w", err)
	}
	var began, ended time.Time
	if err = r.untilReady(ctx, s.place, s.server.ready(s.place)); err == nil {
		began = time.Now()
		err = s.place.command(ctx, s.server.load(s.place, s.requests)...)
		ended = time.Now()
	}
	return ended.Sub(began), errors.Join(err, r.stop())
}

// head is the head of the table; write prints the rows.
const head = "| server | if this took no time | point | visits with clients inside, outside, requests made | share | " +
	"predicted, clients inside | clients outside | really changed | really (lowest to highest) |\n" +
	"| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"

func (s *study) write(w io.Writer) error {
	really := "–"
	if g := slices.Sorted(slices.Values(s.gains)); len(g) > 0 {
		really = fmt.Sprintf("%.1f (%.1f to %.1f)", (g[(len(g)-1)/2]+g[len(g)/2])/2, g[0], g[len(g)-1])
	}
	_, err := fmt.Fprintf(w, "| %s | `%s` | `%s` | %d, %d, %d | %.1f%%, %.1f%% | "+
		"%.1f ± %.1f | %.1f ± %.1f | %s | %s |\n",
		s.server.name, s.server.target, s.server.point,
		s.inside.visits, s.outside.visits, s.server.made(s.requests), s.inside.share, s.outside.share,
		s.inside.gain.Value, s.inside.gain.Half(), s.outside.gain.Value, s.outside.gain.Half(), s.server.change, really)
	return err
}
