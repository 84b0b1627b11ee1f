package test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"whatif/internal/profile"
	"whatif/internal/testing/noise"
	"whatif/internal/testing/realkernel"
)

// Clients outside of the target are not stopped. What the server's samples earn counts if its client waits for the
// server. If the server waits for its client it counts for nothing.
func TestStrangers(t *testing.T) {
	realkernel.NeedWhole(t)
	const source = "testdata/clients.c"
	program := realkernel.Compile(t, source)
	line := fmt.Sprintf("clients.c:%d", realkernel.Line(t, source, "/* WORK */"))
	for _, test := range []struct {
		client    string
		low, high float64 // of what the samples stand for, if it had run all of the time
	}{
		{"waits", 0.65, 1.15}, // the server runs four fifths of the time, less where cores take long to wake
		{"works", 0, 0.25},
	} {
		t.Run(test.client, func(t *testing.T) {
			realkernel.Judge(t, func() ([]noise.Figure, float64) {
				address := filepath.Join(t.TempDir(), "socket")
				client := exec.CommandContext(t.Context(), program, test.client, address)
				if err := client.Start(); err != nil {
					t.Fatal(err)
				}
				flags := []string{"-p", "func:answered", "-t", line, "-s", "0,50", "-d", "6s", "--experiment", "1s"}
				data, _ := profiled(t, flags, []string{program, "server", address}, 143)
				if err := client.Wait(); err != nil { // it ends with the server
					t.Error(err)
				}
				own := client.ProcessState.UserTime() + client.ProcessState.SystemTime()
				f := noise.Figure{Name: "the part of the samples that counts", Value: counted(t, data)}
				f.Low, f.High = test.low, test.high
				return []noise.Figure{f}, withoutClient(data, own)
			})
		})
	}
}

// counted is which part of the time that the server's samples stand for was a delay.
func counted(t *testing.T, data *profile.Data) float64 {
	t.Helper()
	var delayed, dealt, visits int64
	var earned float64
	for _, e := range spedUp(data) {
		if e.SetAside == "ended early" {
			continue
		}
		delayed += e.DelayNS
		// By shares, as ticks are left out where the machine is late for them.
		if e.Samples > 0 {
			earned += float64(e.UnitSamples[e.Unit]) / float64(e.Samples) * float64(e.RealNS) / 2
		}
		dealt += e.DealtNS
		visits += e.Points[0].Count
	}
	if earned == 0 || visits == 0 {
		t.Fatalf("%.0f ns earned, %d visits", earned, visits)
	}
	if dealt == 0 {
		t.Error("no time is counted for the client, which the server deals with")
	}
	return float64(delayed) / earned
}

// withoutClient is the part of the machine that others than the client used.
func withoutClient(data *profile.Data, client time.Duration) float64 {
	all := float64(data.End.RealNS) * float64(data.Run.CPUs)
	return max(0, realkernel.ForeignShare(data)-float64(client)/all)
}

// If a thread waits for an outsider in the line that is sped up, no thread has to be stopped: also where the outsider
// wakes it from the core that it gets, which stood idle until then.
func TestAnsweredFromTheSameCore(t *testing.T) {
	realkernel.NeedSession(t)
	const source = "testdata/partner.c"
	program := realkernel.Compile(t, source)
	ours, other := socketPair(t)
	partner := exec.CommandContext(t.Context(), program, "answers")
	partner.Stdin = other
	if err := partner.Start(); err != nil {
		t.Fatal(err)
	}
	other.Close()
	line := fmt.Sprintf("partner.c:%d", realkernel.Line(t, source, "/* WAITS */"))
	data, _ := profiledWith(t, ours, []string{"-p", "func:answered", "-t", line, "-s", "0,50", "-d", "1200ms"},
		[]string{program, "asks"}, 143)
	ours.Close()
	if err := partner.Wait(); err != nil { // it ends when nobody can ask it any more
		t.Error(err)
	}
	var delayed, stopped int64
	for _, e := range spedUp(data) {
		delayed += e.DelayNS
		stopped += e.PausedNS
	}
	t.Logf("%d ns spared by waiting, %d stopped", delayed, stopped)
	if delayed == 0 || stopped > delayed/10 {
		t.Errorf("stopped for %d ns of the %d that its own waiting spared", stopped, delayed)
	}
}
