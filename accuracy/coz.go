package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// cozRun profiles a program with coz like coz's users: one run, with the target as the fixed line. It returns the
// predicted gains by level.
func cozRun(ctx context.Context, b binaries, levels []int, seconds float64) (map[int]float64, error) {
	profile := b.coz + ".coz"
	if err := os.Remove(profile); err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("running coz: %w", err)
	}
	limit := time.Duration((3*seconds + 30) * float64(time.Second))
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "coz", "run", "--fixed-line", b.target.String(), "-o", profile,
		"---", b.coz, "0", strconv.FormatFloat(seconds, 'f', -1, 64))
	cmd.WaitDelay = 5 * time.Second
	_, err := cmd.Output()
	reapOrphans(time.Second)
	if err != nil {
		return nil, fmt.Errorf("running coz: %w%s", err, words(err))
	}
	f, err := os.Open(profile)
	if err != nil {
		return nil, fmt.Errorf("reading coz's profile: %w", err)
	}
	defer f.Close()
	experiments, err := parseCoz(f, pointName)
	if err != nil {
		return nil, fmt.Errorf("reading coz's profile: %w", err)
	}
	return cozGains(experiments, levels)
}

// cozExperiment is one experiment of a coz profile, with the visits to one progress point.
type cozExperiment struct {
	speedup  float64 // of the line, 0 to 1
	duration float64 // in ns; coz has already subtracted the delays it inserted
	visits   float64
	samples  float64 // in the line; if a whole profile has none, coz has not seen the line
}

// parseCoz parses coz's profile. A line is a word for its kind, and key=value fields separated by tabs. A line
// throughput-point belongs to the experiment line before it.
func parseCoz(r io.Reader, point string) ([]cozExperiment, error) {
	var experiments []cozExperiment
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		what, rest, _ := strings.Cut(lines.Text(), "\t")
		fields := map[string]string{}
		for _, field := range strings.Split(rest, "\t") {
			key, value, _ := strings.Cut(field, "=")
			fields[key] = value
		}
		number := func(key string) float64 {
			x, err := strconv.ParseFloat(fields[key], 64)
			if err != nil {
				return math.NaN()
			}
			return x
		}
		switch what {
		case "experiment":
			e := cozExperiment{speedup: number("speedup"), duration: number("duration"), samples: number("selected-samples")}
			if math.IsNaN(e.speedup) || math.IsNaN(e.duration) || math.IsNaN(e.samples) {
				return nil, fmt.Errorf("parsing %q: speedup, duration or selected-samples are missing", lines.Text())
			}
			experiments = append(experiments, e)
		case "throughput-point", "progress-point": // the latter in older versions
			if fields["name"] != point {
				continue
			}
			delta := number("delta")
			if math.IsNaN(delta) || len(experiments) == 0 {
				return nil, fmt.Errorf("parsing %q: no delta, or no experiment before it", lines.Text())
			}
			experiments[len(experiments)-1].visits += delta
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("scanning: %w", err)
	}
	return experiments, nil
}

// cozBandwidth is the greatest distance, in line speed-up, of an experiment from the level that it helps to predict.
// coz spreads its experiments over 21 levels, and a run of 40 s has one or two experiments at each.
const cozBandwidth = 0.2

// cozGains computes gains like coz's viewer. It pools the experiments of each line speed-up, and compares their period
// with that at 0. A local linear regression with tricube weights, instead of the viewer's loess, smooths the results.
func cozGains(experiments []cozExperiment, levels []int) (map[int]float64, error) {
	pooled := map[float64]cozExperiment{}
	samples := 0.0
	for _, e := range experiments {
		if e.duration <= 0 { // more delay than time: the viewer also ignores these
			continue
		}
		p := pooled[e.speedup]
		p.duration += e.duration
		p.visits += e.visits
		samples += e.samples
		pooled[e.speedup] = p
	}
	base := pooled[0]
	if base.visits == 0 {
		return nil, errors.New("judging coz's profile: no visits in its baseline experiments")
	}
	if samples == 0 { // coz's curve would be flat, whatever the truth is
		return nil, errors.New("judging coz's profile: no samples in the target")
	}
	gains := map[int]float64{}
	for _, level := range levels {
		at := float64(level) / 100
		var w, wx, wy, wxx, wxy float64
		for speedup, p := range pooled {
			u := math.Abs(speedup-at) / (cozBandwidth * 1.001)
			if u >= 1 || p.visits == 0 {
				continue
			}
			gain := 1 - (p.duration/p.visits)/(base.duration/base.visits)
			if gain < -1 || gain > 2 { // the viewer does not show these, either
				continue
			}
			k := math.Pow(1-u*u*u, 3) * p.duration
			x := speedup - at
			w, wx, wy, wxx, wxy = w+k, wx+k*x, wy+k*gain, wxx+k*x*x, wxy+k*x*gain
		}
		if w == 0 {
			continue
		}
		if d := w*wxx - wx*wx; d > 1e-9*w*w {
			gains[level] = 100 * (wxx*wy - wx*wxy) / d
		} else { // a single speed-up has no slope
			gains[level] = 100 * wy / w
		}
	}
	return gains, nil
}
