package spelling

import "testing"

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"done", "done", 0}, {"doen", "done", 1}, {"don", "done", 1}, {"dine", "done", 1},
		{"request_done", "reqest_dnoe", 2}, {"abc", "xyz", 3},
	} {
		if got := Distance(c.a, c.b, 5); got != c.want {
			t.Errorf("%s, %s: %d", c.a, c.b, got)
		}
	}
	if got := Distance("short", "muchlonger", 2); got <= 2 {
		t.Errorf("beyond the limit: %d", got)
	}
}
