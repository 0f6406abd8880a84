package tui

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAListOfWhichNothingIsShown says what hides its rows, how many there are, and which key brings them back.
func TestAListOfWhichNothingIsShown(t *testing.T) {
	long := strings.Repeat("a-filter-that-matches-nothing", 5)
	for name, tc := range map[string]struct {
		keys []string
		want []string
	}{
		"a filter":             {[]string{"/~~~~", "enter"}, []string{"[0 of %d] /~~~~", "none of %d matches /~~~~", "esc clears the filter"}},
		"an inverse filter":    {[]string{"/!.", "enter"}, []string{"[0 of %d] /!.", "none of %d matches /!.", "esc clears the filter"}},
		"a filter that is cut": {[]string{"/" + long, "enter"}, []string{"[0 of %d] /a-filter", "…", "none of %d matches", "nothing\n", "esc clears the filter"}},
		"fuzzy letters":        {[]string{"/-f ~q~q", "enter"}, []string{"none of %d matches /-f ~q~q", "esc clears the filter"}},
	} {
		t.Run(name, func(t *testing.T) {
			eachList(t, func(t *testing.T, screen string) {
				r := newRig(t, 30).start().openScreen(screen)
				before := r.screen()
				total := r.m.table().Total()
				r.press(tc.keys...)
				want := make([]string, len(tc.want))
				for i, part := range tc.want {
					want[i] = part
					if strings.Contains(part, "%d") {
						want[i] = fmt.Sprintf(part, total)
					}
				}
				says(t, r.plain(), want, nil)
				if name == "a filter that is cut" {
					golden(t, filepath.Join("testdata", "nomatch", screen+".80x24.golden"), r.plain())
				}
				if r.press("esc"); r.screen() != before {
					t.Errorf("esc brings back\n%s\nwant\n%s", r.screen(), before)
				}
			})
		})
	}
}

// TestAListWithoutProblems says so when only problems are asked for; ctrl-z shows its rows again.
func TestAListWithoutProblems(t *testing.T) {
	for screen, healthy := range map[string]string{
		nodesName: "node-0000", podsName: "shop/catalog-0000", migrationsName: "hot-4-b", forecastName: "shop/checkout-0004",
		quotasName: "quotas/shop", reservationsName: "catalog", gangsName: "ml/train", workloadsName: "analytics/job/report", devicesName: "node-0003",
		workersName: "analytics/spark",
		drainName:   "shop/catalog-0006",
	} {
		t.Run(screen, func(t *testing.T) {
			r, a := rearrangeable(t)
			r.start().openScreen(screen)
			a.only = healthy
			r.reload(3 * time.Second)
			says(t, r.press("ctrl+z").plain(), []string{"[0 of 1] only problems", "none of 1 has a problem", "ctrl-z shows all"}, nil)
			if r.press("ctrl+z"); r.selectedKey() != healthy {
				t.Errorf("the cursor is on %q", r.selectedKey())
			}
		})
	}
}
