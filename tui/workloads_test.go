package tui

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/style"
)

// makeWorkload is a Deployment of four measured pods that request twelve cores and leave three of them idle.
func makeWorkload(edit func(*diagnostics.WorkloadOverview)) *workloadRow {
	w := &diagnostics.WorkloadOverview{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "deployment/web"}, Pods: 4, Measured: 4,
		CPU:        diagnostics.WorkloadResource{Requested: 12000, Used: new(int64(9000)), Idle: new(int64(3000)), Recommended: new(int64(10500))},
		Memory:     diagnostics.WorkloadResource{Requested: 24 * gib, Used: new(6 * gib), Idle: new(18 * gib), Recommended: new(8 * gib)},
		ObservedAt: new(metav1.NewTime(builtAt.Add(-42 * time.Second))),
	}
	edit(w)
	return &workloadRow{w}
}

func TestCellsOfAWorkload(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*diagnostics.WorkloadOverview)
		want map[string]string
	}{
		"all is known": {func(w *diagnostics.WorkloadOverview) { w.Waiting = 1 }, map[string]string{
			"NAMESPACE": "shop", "NAME": "deployment/web", "PODS": "4", "WAITING": "1", "CPU-USE": "9/12", "CPU-IDLE": "3", "CPU-REC": "10.5",
			"MEM-USE": "6Gi/24Gi", "MEM-IDLE": "18Gi", "MEM-REC": "8Gi", "BATCH": "0%", "MEASURED": "4", "AGE": "42s",
		}},
		"nothing is measured or recommended": {func(w *diagnostics.WorkloadOverview) {
			w.Measured, w.ObservedAt = 0, nil
			w.CPU, w.Memory = diagnostics.WorkloadResource{Requested: 12000}, diagnostics.WorkloadResource{Requested: gib}
		}, map[string]string{
			"CPU": "~~~~~~~~", "CPU-USE": "-/12", "CPU-IDLE": "-", "CPU-REC": "-", "MEMORY": "~~~~~~~~", "MEM-USE": "-/1Gi", "MEM-IDLE": "-", "MEASURED": "0", "AGE": "-",
		}},
		"a quarter of it is batch":       {func(w *diagnostics.WorkloadOverview) { w.CPU.Batch = 3000 }, map[string]string{"BATCH": "25%"}},
		"nothing is requested":           {func(w *diagnostics.WorkloadOverview) { w.CPU.Requested = 0 }, map[string]string{"BATCH": "-", "CPU": "~~~~~~~~"}},
		"a gauge of three quarters":      {func(*diagnostics.WorkloadOverview) {}, map[string]string{"CPU": "######..", "MEMORY": "##......"}},
		"a name with control characters": {func(w *diagnostics.WorkloadOverview) { w.Name = "job/b\x1b[31m" }, map[string]string{"NAME": "job/b [31m"}},
		"a name without a kind":          {func(w *diagnostics.WorkloadOverview) { w.Name = "<none>" }, map[string]string{"NAME": "<none>"}},
	} {
		t.Run(name, func(t *testing.T) {
			cells := cellsOf(workloadColumns(builtNow), makeWorkload(tc.edit))
			got := map[string]string{}
			for title := range tc.want {
				got[title] = cells[title]
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("unexpected cells (-want +got):\n%s\nall: %v", diff, cells)
			}
		})
	}
}

// TestProblemsOfWorkloads are pods that wait and requests that are hardly used, and the line below the list says which.
func TestProblemsOfWorkloads(t *testing.T) {
	idle := func(requested, idle int64) func(*diagnostics.WorkloadOverview) {
		return func(w *diagnostics.WorkloadOverview) { w.CPU.Requested, w.CPU.Idle = requested, &idle }
	}
	for name, tc := range map[string]struct {
		edit func(*diagnostics.WorkloadOverview)
		want string
	}{
		"it uses what it requests":       {func(*diagnostics.WorkloadOverview) {}, ""},
		"one of its pods waits":          {func(w *diagnostics.WorkloadOverview) { w.Waiting = 1 }, "1 of 4 pods without a node"},
		"three quarters are idle":        {idle(12000, 9000), "9 of 12 requested cores are idle"},
		"a little less is not":           {idle(12000, 8900), ""},
		"less than a core is not minded": {idle(1000, 990), ""},
		"a core is":                      {idle(1000, 1000), "1 of 1 requested cores are idle"},
		"idle memory is not minded":      {func(w *diagnostics.WorkloadOverview) { w.Memory.Idle = new(24 * gib) }, ""},
		"it is not measured":             {func(w *diagnostics.WorkloadOverview) { w.CPU.Idle = nil }, ""},
		"its pods wait, and what runs idles": {func(w *diagnostics.WorkloadOverview) { idle(4000, 3500)(w); w.Waiting, w.Pods = 2, 3 },
			"2 of 3 pods without a node; 3.50 of 4 requested cores are idle"},
	} {
		t.Run(name, func(t *testing.T) {
			row := makeWorkload(tc.edit)
			if got := workloadReason(row, 80); got != tc.want || workloadProblem(row) != (tc.want != "") {
				t.Errorf("problem %t, %q; want %q", workloadProblem(row), got, tc.want)
			}
		})
	}
}

// TestProblemsStandOut in the cells that show them.
func TestProblemsStandOut(t *testing.T) {
	st := style.New(colourLook)
	row := makeWorkload(func(w *diagnostics.WorkloadOverview) { w.Waiting, w.CPU.Idle = 2, new(int64(11000)) })
	for _, c := range workloadColumns(builtNow) {
		if want := map[string]string{"WAITING": st.Warn.Render("2"), "CPU-IDLE": st.Warn.Render("11")}[c.Title]; want != "" && c.Cell(row, 8, st) != want {
			t.Errorf("%s is %q, want %q", c.Title, c.Cell(row, 8, st), want)
		}
	}
}

// TestPodsOfAWorkload are known by their names, as controllers and API servers make them up.
func TestPodsOfAWorkload(t *testing.T) {
	long := strings.Repeat("long-", 11) // of 55 characters
	for workload, tc := range map[string]struct{ pods, others string }{
		"deployment/web":           {"web-77c9f5d8b6-x2x4z", "web-0 web-admin-77c9f5d8b6-x2x4z web web-77c9f5d8b6 other-web-77c9-x2x4z"},
		"replicaset/web":           {"web-x2x4z", "web-77c9f5d8b6-x2x4z webs-x2x4z"},
		"daemonset/agent":          {"agent-x2x4z", "agent-windows-x2x4z"},
		"cloneset/web":             {"web-x2x4z", "web-admin-x2x4z"},
		"statefulset/db":           {"db-0 db-12", "db-x2x4z db-0-backup db"},
		"job/pi":                   {"pi-x2x4z pi-0-x2x4z", "pi-28761120-a-x2x4z pie-x2x4z"},
		"pod/shell":                {"shell", "shell-0 ashell"},
		"statefulset/a.b":          {"a.b-0", "aab-0"},
		"sparkapplication/pi":      {"pi-driver anything", ""},
		"deployment/" + long + "x": {long + "xab" + "x2x4z", "long-x2x4z"},
	} {
		t.Run(workload, func(t *testing.T) {
			row := makeWorkload(func(w *diagnostics.WorkloadOverview) { w.Name = workload })
			table := newPodTable(true)
			var pods []podRow
			for _, name := range strings.Fields(tc.pods + " " + tc.others) {
				pods = append(pods, makePod("shop", name).class("LS", "koord-prod").row(), makePod("workshop", name).row())
			}
			table.SetRows(pods)
			if err := table.SetFilter(podsOfWorkload(row.Namespace, row.Name)); err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range table.Len() {
				table.Move(i - table.Cursor())
				got = append(got, podKey(table.Selected()))
			}
			want := strings.Fields(regexp.MustCompile(`(\S+)`).ReplaceAllString(tc.pods, "shop/$1"))
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("/%s keeps (-want +got):\n%s", podsOfWorkload(row.Namespace, row.Name), diff)
			}
		})
	}
}

// TestWorkloadsLeadToTheirPods, and back at once: the filter goes with the page that was opened with it.
func TestWorkloadsLeadToTheirPods(t *testing.T) {
	r := newRig(t, 30).start().press(":pods /report", "enter", ":workloads /checkout", "enter", "enter")
	if got := r.crumbs(); got != "nodes > pods > workloads > pods" {
		t.Fatalf("enter leads to %q", got)
	}
	says(t, r.plain(), []string{`pods(all)[30 of 142] /^shop/checkout-\w+\s`, "checkout-0000"}, []string{"search", "report"})
	r.press("enter", "esc")
	if got := r.m.table().Filter(); got != `^shop/checkout-\w+\s` {
		t.Errorf("back from a pod the filter is %q", got)
	}
	r.press("esc")
	if got := r.selectedKey(); got != "shop/cloneset/checkout" || r.m.table().Filter() != "checkout" {
		t.Errorf("esc leads to %q with the filter %q", got, r.m.table().Filter())
	}
	r.press("esc", "esc")
	if got := r.crumbs(); got != "nodes > pods" || r.m.table().Filter() != "report" {
		t.Errorf("esc leads to %q with the filter %q, which was %q", got, r.m.table().Filter(), "report")
	}
	// A filter that was typed over that of the link is cleared first, as any other.
	r = newRig(t, 30).start().press(":workloads", "enter", "G", "enter", "/0", "enter", "esc")
	if got := r.crumbs(); got != "nodes > workloads > pods" || r.m.table().Filter() != "" {
		t.Errorf("esc leads to %q with the filter %q", got, r.m.table().Filter())
	}
}

// TestWorkloadsAreThoseOfTheNamespace that is shown, which pods have in common with them.
func TestWorkloadsAreThoseOfTheNamespace(t *testing.T) {
	for name, tc := range map[string]struct {
		keys  []string
		title string
		rows  int
	}{
		"all":                          {[]string{":workloads", "enter"}, "workloads(all)", 7},
		"one":                          {[]string{":wl shop", "enter"}, "workloads(shop)", 4},
		"all again":                    {[]string{":wl shop", "enter", "0"}, "workloads(all)", 7},
		"that of the pods":             {[]string{":ns shop", "enter", ":wl /cat", "enter"}, "workloads(shop)", 1},
		"with the label of their pods": {[]string{":wl app=search", "enter"}, "workloads(all)", 1},
		"a filter for labels":          {[]string{":wl", "enter", "/-l app in (search,report)", "enter"}, "workloads(all)", 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start().press(tc.keys...)
			if got := r.m.page().title(); got != tc.title || r.m.table().Len() != tc.rows {
				t.Errorf("%s has %d rows, want %s with %d:\n%s", got, r.m.table().Len(), tc.title, tc.rows, r.screen())
			}
		})
	}
}

// TestNothingDescribesAWorkload, and a command that would says so.
func TestNothingDescribesAWorkload(t *testing.T) {
	r := newRig(t, 30).start().press(":workloads", "enter", ":describe", "enter")
	if want := "name required: :describe NODE|NAMESPACE/POD"; r.m.flash.text != want || r.crumbs() != "nodes > workloads" {
		t.Errorf("says %q at %s, want %q", r.m.flash.text, r.crumbs(), want)
	}
}

func TestASourceWithoutWorkloadsSaysSo(t *testing.T) {
	r := newRig(t, 30)
	r.m.source = struct{ source.Source }{r.src}
	says(t, r.start().press(":workloads", "enter").screen(), []string{"error: list workloads: not available from this source"}, nil)
}

// TestAWorkloadIsScaledFromTheList: w begins the command, and the number of replicas is typed.
func TestAWorkloadIsScaledFromTheList(t *testing.T) {
	r := newRig(t, 30).start().openScreen(workloadsName).press("G", "w")
	says(t, r.plain(), []string{":scale shop/statefulset/search "}, nil)
	r.press("8", "0", "enter")
	if got := r.crumbs(); got != "nodes > workloads > scale shop/statefulset/search 80" {
		t.Errorf("leads to %s", got)
	}
}

// TestWorkloadsAreExplained from their list, by their name, and from there to their pods. Jobs have screens of their own.
func TestWorkloadsAreExplained(t *testing.T) {
	const page = "statefulset/search"
	for name, tc := range map[string]struct {
		keys []string
		want string
	}{
		"from the list":        {[]string{":wl /statefulset", "enter", "x"}, "nodes > workloads > " + page},
		"by its name":          {[]string{":workload shop/" + page, "enter"}, "nodes > " + page},
		"by its kind":          {[]string{":why sts shop/search", "enter"}, "nodes > " + page},
		"to its pods":          {[]string{":workload shop/" + page, "enter", "p"}, "nodes > " + page + " > pods"},
		"to its events":        {[]string{":workload shop/" + page, "enter", "e"}, "nodes > " + page + " > events workload shop/" + page},
		"not one of that kind": {[]string{":wl /job/report", "enter", "x"}, "nodes > workloads"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start().press(tc.keys...)
			if got := r.crumbs(); got != tc.want {
				t.Errorf("leads to %q, want %q", got, tc.want)
			}
			if text := r.plain(); strings.Contains(text, "error:") {
				t.Errorf("it fails:\n%s", text)
			}
		})
	}
}
