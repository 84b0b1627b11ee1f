package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/profile"
	"whatif/internal/report"
	"whatif/internal/testing/realkernel"
)

const tutorial = "../../docs/tutorial"

// A shown is a command of the tutorial, with the output that the tutorial shows.
type shown struct {
	text   string
	output []string
}

// steps reads the commands and the code that the tutorial shows.
func steps(t *testing.T) (commands []shown, code []string) {
	t.Helper()
	text, err := os.ReadFile(tutorial + ".md")
	if err != nil {
		t.Fatal(err)
	}
	block := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		fence, isFence := strings.CutPrefix(line, "```")
		c, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case isFence && block == "":
			block = "plain" + fence
		case isFence:
			block = ""
		case block == "plain" && isCommand:
			commands = append(commands, shown{text: c})
		case block == "plain":
			last := &commands[len(commands)-1]
			last.output = append(last.output, line)
		case block != "":
			code = append(code, line)
		}
	}
	if len(commands) < 10 || len(code) == 0 {
		t.Fatalf("%d commands and %d lines of code: the tutorial is not read as it should", len(commands), len(code))
	}
	return commands, code
}

// TestTutorialShows compares the tutorial's output with what whatif prints about the same profiles. With -update it
// writes the new output into the tutorial.
func TestTutorialShows(t *testing.T) {
	whatif := realkernel.Whatif(t)
	commands, code := steps(t)
	source, err := os.ReadFile(filepath.Join(tutorial, "words.c"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range code {
		if !strings.Contains(string(source), line+"\n") {
			t.Errorf("words.c has no such line: %s", line)
		}
	}
	text, err := os.ReadFile(tutorial + ".md")
	if err != nil {
		t.Fatal(err)
	}
	compared, shows := 0, string(text)
	for _, c := range commands {
		if len(c.output) == 0 {
			continue
		}
		var got []byte
		switch {
		case strings.HasPrefix(c.text, "sudo whatif run"):
			got = firstRun(t)
		case strings.HasPrefix(c.text, "whatif ") && !strings.HasPrefix(c.text, "whatif points"):
			cmd := exec.Command("sh", "-c", c.text)
			cmd.Dir = tutorial
			cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(whatif)+":"+os.Getenv("PATH"))
			if got, err = cmd.Output(); err != nil {
				t.Errorf("$ %s: %v", c.text, err)
			}
		default:
			continue // the profiles cannot give this output
		}
		compared++
		want := strings.Join(c.output, "\n") + "\n"
		if *update {
			shows = strings.Replace(shows, "$ "+c.text+"\n"+want, "$ "+c.text+"\n"+string(got), 1)
		} else if string(got) != want {
			t.Errorf("$ %s prints\n%s\nthe tutorial shows\n%s", c.text, got, want)
		}
	}
	if compared < 4 {
		t.Errorf("%d commands compared", compared)
	}
	if *update {
		if err := os.WriteFile(tutorial+".md", []byte(shows), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// firstRun is the output at the end of the first run.
func firstRun(t *testing.T) []byte {
	t.Helper()
	runs, err := profile.ReadFiles([]string{filepath.Join(tutorial, "before.profile")})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	result := analyze.Analyze(runs[:1], analyze.Options{})
	if err := report.Text(&b, result, report.Options{Width: 100, Top: 20}); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "\nwhatif: wrote before.profile; see whatif report --top 0 before.profile\n")
	return b.Bytes()
}

// TestTutorial executes the tutorial's commands, with shorter runs. Their numbers differ, so the test compares only the
// lines that do not depend on numbers.
func TestTutorial(t *testing.T) {
	realkernel.NeedBeside(t)
	dir := t.TempDir()
	source, err := os.ReadFile(filepath.Join(tutorial, "words.c"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "words.c"), source, 0o644); err != nil {
		t.Fatal(err)
	}
	less := strings.NewReplacer("-d 20s", "-d 700ms --experiment 30ms", "./words 5000", "./words 200", "sudo ", "")
	commands, _ := steps(t)
	for _, c := range commands {
		text := less.Replace(c.text)
		if strings.Contains(text, "whatif view ") {
			view(t, dir, text, "the page is at", 0)
			continue
		}
		statuses := []int{0}
		if strings.Contains(text, "whatif check ") {
			statuses = []int{0, 1} // the machine may have become half as fast
		}
		release, err := turnFor(text)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", text)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(realkernel.Whatif(t))+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		release()
		if !slices.Contains(statuses, cmd.ProcessState.ExitCode()) {
			t.Fatalf("$ %s: %v\n%s", text, err, out)
		}
		printed := map[string]bool{}
		for line := range strings.Lines(string(out)) {
			printed[steady(line)] = true
		}
		for _, line := range c.output {
			want := steady(line)
			if want == "row" && foundUnits.Match(out) {
				continue // a busy machine has no time for an experiment
			}
			if want != "" && !printed[want] {
				t.Errorf("$ %s: nothing like %q, which is %q:\n%s", text, line, want, out)
			}
		}
	}
}

// always matches the beginnings of lines that do not depend on numbers.
var (
	always = regexp.MustCompile(`^(\d+ pages in .*\(checksum|\./words$|  points in the source|  functions named|` +
		`    -p func:process_page.*|measured |point process_page \(func\): \d+ visits|` +
		`less time per visit of .*|whatif: wrote .*|` +
		` +# +unit .*|old: before.profile, \./words, build|new: after.profile, \./words, build|` +
		`(holds|fails|not sure): (whether )?process_page )`)
	theRow = regexp.MustCompile(`^ *\d+ +words\.c:\d+ `) // even the shortest run tries a line
	// By how much the time per visit has changed.
	theChange = regexp.MustCompile(`^process_page: (no significant change: )?[\d.]+% (less|more) time per visit ` +
		`\(.*\)(, [\d.]+ times as fast)?: ` +
		`.* → .* \(.*/s → .*/s\)$`)
	digits = regexp.MustCompile(`\d[\d.]*`)
)

// steady returns the part of a line that is the same in every run; "" if there is none.
func steady(line string) string {
	line = strings.TrimSuffix(line, "\n")
	if theRow.MatchString(line) {
		return "row"
	}
	if theChange.MatchString(line) {
		return "change"
	}
	line = regexp.MustCompile("^(fails|not sure): (whether )?").ReplaceAllString(line, "holds: ")
	return strings.Join(strings.Fields(digits.ReplaceAllString(always.FindString(line), "N")), " ")
}
