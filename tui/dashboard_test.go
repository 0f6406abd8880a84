package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/fixture"
)

// dashboardOf is a dashboard of 30 nodes with all its answers.
func dashboardOf(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, 30).start().openScreen(dashboardName)
	r.resize(120, 40)
	return r
}

// toRow moves the cursor to the first row of the dashboard that begins with some words.
func (r *rig) toRow(words string) *rig {
	r.t.Helper()
	r.press("g")
	for range r.m.table().Len() {
		if line := strings.Join(strings.Fields(strings.TrimPrefix(r.underCursor(), r.m.st.Cursor)), " "); strings.HasPrefix(line, words) {
			return r
		}
		r.press("j")
	}
	r.t.Fatalf("no row begins with %q:\n%s", words, r.plain())
	return nil
}

// TestRowsOfTheDashboardLeadToTheirLists: to the problems of a list, or to all of it where nothing is wrong, and to the first object.
func TestRowsOfTheDashboardLeadToTheirLists(t *testing.T) {
	for name, tc := range map[string]struct {
		row         string
		keys        []string
		want, never []string
	}{
		"the nodes in trouble":                {"nodes ▲ Hot", []string{"enter"}, []string{"nodes[5 of 30] only problems", "node-0004", "<dashboard> <nodes>"}, []string{"node-0000"}},
		"one of them":                         {"nodes ▲ Hot", []string{"x"}, []string{"[batch-cpu]", "<dashboard> <node-0004>"}, nil},
		"pods of all namespaces":              {"pods … Pending", []string{"enter"}, []string{"pods(all)", "only problems", "search-reindex-0"}, nil},
		"what refuses a pod":                  {"pods … Pending 1 shop/search-reindex-0", []string{"x"}, []string{"pod shop/search-reindex-0", "Insufficient cpu"}, nil},
		"the quotas that wait":                {"quotas ▲ Waiting", []string{"enter"}, []string{"quotas(cpu)", "only problems"}, nil},
		"jobs under way":                      {"migrations ● Running", []string{"enter"}, []string{"migrations[", "hot-4-b", "hot-4-a"}, []string{"] only problems"}},
		"a Reservation that ends":             {"reservations ● Ending", []string{"x"}, []string{"reservation catalog"}, nil},
		"the next moves":                      {"forecast … Moves", []string{"enter"}, []string{"forecast[", "shop/checkout-0004"}, []string{"] only problems"}},
		"what is wrong with the installation": {"checks ✗ failed", []string{"enter"}, []string{"checks", "KOORD0011"}, nil},
		"a check has no explanation but that": {"checks ▲ warning", []string{"x"}, []string{"checks", "KOORD0101"}, nil},
		"no description":                      {"checks ▲ warning", []string{"d"}, []string{"dashboard[", "describe does not apply to a check"}, []string{"error:"}},
		"the chart":                           {"nodes", []string{"v"}, []string{"chart(cluster)"}, nil},
		"only problems":                       {"nodes", []string{"ctrl+z"}, []string{"dashboard[25 of 29] only problems"}, []string{"Ending", "Moves"}},
		"a filter":                            {"nodes", []string{"/quota", "enter"}, []string{"dashboard[4 of 29]", "quotas/spark"}, []string{"gangs"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := dashboardOf(t)
			if !strings.HasPrefix(tc.row, "pods … Pending 1") {
				r.m.namespace = "shop" // the dashboard is about all namespaces
			}
			says(t, r.toRow(tc.row).press(tc.keys...).plain(), tc.want, tc.never)
			if r.press("esc", "esc"); r.m.page().screen.name != dashboardName && r.m.page().screen.name != nodesName {
				t.Errorf("esc leads to %s", r.m.page().screen.name)
			}
		})
	}
}

// TestTheDashboardAsksNowAndThen: the lists four times a minute and the forecast once, since all that is in the cluster is read for them.
func TestTheDashboardAsksNowAndThen(t *testing.T) {
	counted := &asks{Source: &fixture.Cluster{Size: 3, Now: time.Now, Epoch: fixture.Epoch}, count: map[string]int{}}
	r := newRig(t, 3)
	r.src.Source = counted
	r.start().openScreen(dashboardName)
	r.pass(61 * time.Second)
	if diff := cmp.Diff(map[string]int{"quotas": 4, "forecast": 2}, counted.count); diff != "" {
		t.Errorf("questions in a minute (-want +got):\n%s", diff)
	}
}

// TestTheDashboardForecastsNothingInLargeClusters: all pods are read for that, and are too many to be read again and again.
func TestTheDashboardForecastsNothingInLargeClusters(t *testing.T) {
	counted := &asks{Source: &fixture.Cluster{Size: 3, Now: time.Now, Epoch: fixture.Epoch}, count: map[string]int{}, pods: forecastPods}
	r := newRig(t, 3)
	r.src.Source = counted
	r.start().openScreen(dashboardName)
	r.pass(61 * time.Second)
	if counted.count["forecast"] != 0 {
		t.Errorf("the forecast was asked for %d times", counted.count["forecast"])
	}
	if missing := r.m.page().screen.content(r.m.page()).incomplete; !slices.ContainsFunc(missing, func(s string) bool { return strings.Contains(s, ":forecast looks at them") }) {
		t.Errorf("what is missing: %q, want that the forecast is", missing)
	}
}

// asks counts questions.
type asks struct {
	fixture.Source
	count map[string]int
	// pods on each node; 0 for those of the source.
	pods int32
}

func (a *asks) Nodes(ctx context.Context, query source.NodeQuery) (*diagnostics.NodeOverviewList, error) {
	list, err := a.Source.Nodes(ctx, query)
	for i := range list.Items {
		if a.pods > 0 {
			list.Items[i].Pods = &a.pods
		}
	}
	return list, err
}

func (a *asks) Quotas(ctx context.Context) ([]source.Quota, error) {
	a.count["quotas"]++
	return a.Source.Quotas(ctx)
}

func (a *asks) ForecastMigrations(ctx context.Context, rounds int) (*diagnostics.MigrationForecast, error) {
	a.count["forecast"]++
	return a.Source.ForecastMigrations(ctx, rounds)
}

// TestPartsOfTheDashboardFailAlone: what cannot be read is named, what is not installed has nothing that matters, and the rest is there.
func TestPartsOfTheDashboardFailAlone(t *testing.T) {
	answer := func(name string, err error) part {
		return part{name, func(context.Context, source.Source, time.Time) ([]matter, error) {
			if err != nil {
				return nil, err
			}
			return []matter{{list: name}}, nil
		}}
	}
	got := mattersOf(t.Context(), nil, time.Time{}, []part{
		answer("quotas", nil),
		answer("gangs", finding.Wrap(errors.New("list podgroups: forbidden"), finding.Forbidden, "")),
		answer("devices", finding.Wrap(errors.New("list devices: no such resource"), finding.NotInstalled, "")),
		answer("migrations", errors.New("the answer is no JSON")),
		answer("pods", nil),
	})
	var lists []string
	for _, row := range got.rows {
		lists = append(lists, row.list)
	}
	if diff := cmp.Diff([]string{"quotas", "pods"}, lists); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"gangs: list podgroups: forbidden", "migrations: the answer is no JSON"}, got.missing); diff != "" {
		t.Errorf("what is missing (-want +got):\n%s", diff)
	}
}

// TestMattersAreGrouped by state and cause, the gravest first and of these the most.
func TestMattersAreGrouped(t *testing.T) {
	type item struct {
		state, cause string
		rank         int
	}
	items := []item{{"Waiting", "", 2}, {"Normal", "", 9}, {"Waiting", "", 2}, {"Pending", "cpu", 3}, {"Pending", "gpu", 3}, {"Pending", "gpu", 3}, {"Invalid", "", 1}}
	var got []string
	for _, row := range grouped("list", items, func(i *item) (matter, bool) {
		return matter{state: i.state, cause: i.cause, rank: i.rank}, i.state != "Normal"
	}) {
		got = append(got, fmt.Sprintf("%s %s %s %d", row.list, row.state, row.cause, row.count))
	}
	if diff := cmp.Diff([]string{"list Invalid  1", "list Waiting  2", "list Pending gpu 2", "list Pending cpu 1"}, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// TestWhatPodsHaveInCommon is what refuses most nodes.
func TestWhatPodsHaveInCommon(t *testing.T) {
	for name, tc := range map[string]struct{ reason, want string }{
		"of several refusals":   {"0/30 nodes are available: 2 node(s) were unschedulable, 28 Insufficient cpu.", "Insufficient cpu"},
		"no refusal":            {"ImagePullBackOff: no such image", "ImagePullBackOff: no such image"},
		"nothing is said of it": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := causeOf(tc.reason); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestTheDashboardShowsNodesFirst: what is known of the nodes is there before the lists are, and without a right to list nodes the pods are.
func TestTheDashboardShowsNodesFirst(t *testing.T) {
	r := newRig(t, 30).start()
	r.hold = true
	r.press(":dashboard", "enter")
	says(t, r.plain(), []string{"prod req", "dashboard[5]", "node-0023"}, []string{"loading", "quotas"})
	r.release()
	says(t, r.plain(), []string{"dashboard[29]", "quotas"}, []string{"looking at"})

	tenant := newRig(t, 30)
	tenant.m.start = dashboardName
	tenant.src.Source = limited{Source: tenant.src.Source, namespace: "shop", context: "shop"}
	says(t, tenant.start().plain(), []string{"pods(shop)", "catalog-0000"}, []string{"error:"})
}

// TestTheCursorOfTheDashboardStaysAtTheTop while graver rows come, until it is moved: then it stays on its row.
func TestTheCursorOfTheDashboardStaysAtTheTop(t *testing.T) {
	for name, tc := range map[string]struct {
		keys []string
		want string
	}{"not moved": {nil, "node-0023"}, "moved": {[]string{"j"}, "node-0011"}} {
		t.Run(name, func(t *testing.T) {
			r, a := rearrangeable(t)
			a.gone = "node-0023"
			r.start().openScreen(dashboardName).press("g")
			if got := r.selectedKey(); got != "node-0004" {
				t.Fatalf("the cursor is on %s", got)
			}
			r.press(tc.keys...)
			a.gone = ""
			r.pass(3 * time.Second)
			if got := r.selectedKey(); got != tc.want {
				t.Errorf("the cursor is on %s, want %s", got, tc.want)
			}
		})
	}
}

// TestADashboardWithNothingWrong says so.
func TestADashboardWithNothingWrong(t *testing.T) {
	r, a := rearrangeable(t)
	a.empty, r.m.check = true, nil
	r.start().openScreen(dashboardName)
	says(t, r.plain(), []string{"dashboard[0]", "nothing is wrong, and nothing is about to move"}, []string{"error:"})
	for _, key := range []string{"enter", "x", "d", "y"} {
		if r.press(key); r.m.page().screen.name != dashboardName || r.m.flash.bad {
			t.Errorf("%s leads to %s and says %q, and there is no row", key, r.m.page().screen.name, r.m.flash.text)
		}
	}
}
