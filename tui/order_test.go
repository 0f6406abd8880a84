package tui

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"koordinator.sh/koord/tui/internal/grid"
)

// order is the names of the rows from the first to the last, without what they have in common.
func (r *rig) order(lead string) string {
	out := make([]string, r.m.table().Len())
	for i := range out {
		out[i] = strings.TrimPrefix(r.keyAt(i), lead)
	}
	return strings.Join(out, " ")
}

// TestListsAreSortedByWhatTheirColumnsShow: the keys, the mark in the header and the rows agree.
func TestListsAreSortedByWhatTheirColumnsShow(t *testing.T) {
	for name, tc := range map[string]struct {
		screen, lead string
		keys         []string
		wantTitle    string
		want         string
	}{
		"gangs by name":                        {gangsName, "ml/", nil, "NAME↑", "lost sweep train tune"},
		"the gravest gang first":               {gangsName, "ml/", []string{"S"}, "STATE↓", "lost tune sweep train"},
		"the gang with the most members first": {gangsName, "ml/", []string{"P"}, "PODS↓", "sweep tune train lost"},
		"the gang that waits longest first":    {gangsName, "ml/", []string{"T"}, "SINCE↑", "train tune sweep lost"},
		"and the one that waits shortest":      {gangsName, "ml/", []string{"T", "T"}, "SINCE↓", "lost sweep tune train"},

		"engines by namespace and name":       {workersName, "", nil, "NAMESPACE↑", "analytics/impala analytics/presto analytics/spark shop/hive shop/trino"},
		"the gravest engine first":            {workersName, "analytics/", []string{"S"}, "STATE↓", "presto impala shop/hive spark shop/trino"},
		"the engine with most workers first":  {workersName, "analytics/", []string{"C"}, "CURRENT↓", "spark shop/trino impala presto shop/hive"},
		"the engine that gets most first":     {workersName, "analytics/", []string{"D"}, "DESIRED↓", "spark shop/trino impala presto shop/hive"},
		"the engine that drains most first":   {workersName, "analytics/", []string{"I"}, "DRAINING↓", "shop/trino impala presto spark shop/hive"},
		"devices by node":                     {devicesName, "node-", nil, "NAME↑", "0003 0006 0009 0012"},
		"the gravest state first":             {devicesName, "node-", []string{"S"}, "STATE↓", "0009 0003 0006 0012"},
		"the node with most free first":       {devicesName, "node-", []string{"F"}, "FREE↓", "0003 0012 0009 0006"},
		"the largest room first":              {devicesName, "node-", []string{"L"}, "LARGEST↓", "0003 0012 0009 0006"},
		"workloads by namespace and name":     {workloadsName, "", nil, "NAMESPACE↑", "analytics/job/report analytics/sparkapplication/spark kube-system/daemonset/node-agent shop/cloneset/catalog shop/cloneset/checkout shop/job/search-reindex shop/statefulset/search"},
		"the workload with most waiting pods": {workloadsName, "shop/", []string{"W"}, "WAITING↓", "analytics/sparkapplication/spark job/search-reindex analytics/job/report kube-system/daemonset/node-agent cloneset/catalog cloneset/checkout statefulset/search"},
		"the one that leaves most CPU idle":   {workloadsName, "shop/", []string{"I"}, "CPU-IDLE↓", "statefulset/search cloneset/checkout cloneset/catalog analytics/sparkapplication/spark analytics/job/report kube-system/daemonset/node-agent job/search-reindex"},
		"quotas as a tree":                    {quotasName, "quotas/", nil, "NAME↑", "analytics report spark shop catalog checkout search trial typo"},
		"the gravest quota first":             {quotasName, "quotas/", []string{"S"}, "STATE↓", "typo spark analytics search trial report shop catalog checkout"},
		"the most used quota first":           {quotasName, "quotas/", []string{"U"}, "USED↓", "analytics spark shop search checkout report catalog typo trial"},
		"the most requested first":            {quotasName, "quotas/", []string{"R"}, "REQUEST↓", "analytics spark shop search checkout report catalog typo trial"},

		"Reservations by name":               {reservationsName, "", nil, "NAME↑", "big catalog checkout nightly search"},
		"the gravest Reservation first":      {reservationsName, "", []string{"S"}, "STATE↓", "search big checkout catalog nightly"},
		"the one that ends first, ties kept": {reservationsName, "", []string{"L"}, "LEFT↑", "big catalog checkout search nightly"},

		"jobs by pod, those that ended last": {migrationsName, "", nil, "POD↑", "manual hot-4-d hot-4-b hot-4-a hot-4-c hot-4-e hot-4-f"},
		"the gravest job first":              {migrationsName, "", []string{"S"}, "STATE↓", "hot-4-f hot-4-a manual hot-4-b hot-4-c hot-4-d hot-4-e"},
		"the job with the least time left":   {migrationsName, "", []string{"L"}, "LEFT↑", "hot-4-a hot-4-b hot-4-c hot-4-d manual hot-4-e hot-4-f"},

		"drained pods by eviction":   {drainName, "shop/", nil, "ROUND↑", "analytics/spark-exec-0006 search-0006 analytics/report-0006 catalog-0006 checkout-0006 kube-system/node-agent-0006"},
		"drained pods by name":       {drainName, "shop/", []string{"P"}, "POD↑", "analytics/report-0006 analytics/spark-exec-0006 kube-system/node-agent-0006 catalog-0006 checkout-0006 search-0006"},
		"drained pods by their node": {drainName, "shop/", []string{"T", "T"}, "TO↓", "checkout-0006 catalog-0006 search-0006 analytics/spark-exec-0006 analytics/report-0006 kube-system/node-agent-0006"},

		"moves by round":           {forecastName, "shop/", nil, "ROUND↑", "checkout-0004 search-0004 analytics/spark-exec-0004"},
		"the last round first":     {forecastName, "shop/", []string{"R"}, "ROUND↓", "analytics/spark-exec-0004 checkout-0004 search-0004"},
		"moves by pod":             {forecastName, "shop/", []string{"P"}, "POD↑", "analytics/spark-exec-0004 checkout-0004 search-0004"},
		"moves without a node":     {forecastName, "shop/", []string{"T"}, "TO↑", "analytics/spark-exec-0004 checkout-0004 search-0004"},
		"moves by node, backwards": {forecastName, "shop/", []string{"T", "T"}, "TO↓", "search-0004 checkout-0004 analytics/spark-exec-0004"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start().openScreen(tc.screen).press(tc.keys...)
			if text := r.plain(); !strings.Contains(text, tc.wantTitle) {
				t.Errorf("no column is marked as %s:\n%s", tc.wantTitle, text)
			}
			if diff := cmp.Diff(tc.want, r.order(tc.lead)); diff != "" {
				t.Errorf("unexpected order (-want +got):\n%s", diff)
			}
		})
	}
}

// TestListsAreSortedByColumnsThatDoNotFit, and mark them as soon as the terminal is wide enough.
func TestListsAreSortedByColumnsThatDoNotFit(t *testing.T) {
	for name, tc := range map[string]struct {
		screen, key string
		wantTitle   string
		want        string
	}{
		"the largest Reservation first": {reservationsName, "C", "CPU↓", "search checkout nightly catalog big"},
		"jobs by name":                  {migrationsName, "N", "NAME↑", "hot-4-a hot-4-b hot-4-c hot-4-d hot-4-e hot-4-f manual"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start().openScreen(tc.screen).press(tc.key)
			if text := r.plain(); strings.Contains(text, tc.wantTitle) {
				t.Errorf("the column %s fits 80 cells:\n%s", tc.wantTitle, text)
			}
			if diff := cmp.Diff(tc.want, r.order("")); diff != "" {
				t.Errorf("unexpected order (-want +got):\n%s", diff)
			}
			r.resize(200, 24)
			if text := r.plain(); !strings.Contains(text, tc.wantTitle) {
				t.Errorf("no column is marked as %s:\n%s", tc.wantTitle, text)
			}
		})
	}
}

// TestOrdersAreTotal: a comparison that contradicts itself lets rows jump at every refresh.
func TestOrdersAreTotal(t *testing.T) {
	t.Run("devices", func(t *testing.T) { checkOrders(t, deviceColumns(), anyDevices) })
	t.Run("gangs", func(t *testing.T) { checkOrders(t, gangColumns(builtNow), anyGang) })
	t.Run("quotas", func(t *testing.T) { checkOrders(t, quotaColumns(), anyQuota) })
	t.Run("reservations", func(t *testing.T) { checkOrders(t, reservationColumns(builtNow), anyReservation) })
	t.Run("migrations", func(t *testing.T) { checkOrders(t, migrationColumns(builtNow), anyMigration) })
	t.Run("moves", func(t *testing.T) { checkOrders(t, moveColumns(), anyMove) })
	t.Run("workloads", func(t *testing.T) { checkOrders(t, workloadColumns(builtNow), anyWorkload) })
	t.Run("workers", func(t *testing.T) { checkOrders(t, workersColumns(builtNow), anyWorkers) })
	t.Run("pods", func(t *testing.T) { checkOrders(t, podColumns(true), anyPod) })
	t.Run("nodes", func(t *testing.T) { checkOrders(t, nodeColumns(builtNow), anyNode) })
}

func checkOrders[R any](t *testing.T, columns []grid.Column[R], row func(*rapid.T) R) {
	t.Helper()
	rows := rapid.Custom(row)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := rows.Draw(t, "a"), rows.Draw(t, "b"), rows.Draw(t, "c")
		for _, column := range columns {
			compare := column.Compare
			if compare == nil {
				continue
			}
			switch {
			case compare(&a, &a) != 0:
				t.Fatalf("%s: a row differs from itself", column.Title)
			case (compare(&a, &b) > 0) != (compare(&b, &a) < 0) || (compare(&a, &b) == 0) != (compare(&b, &a) == 0):
				t.Fatalf("%s: a to b is %d, b to a is %d", column.Title, compare(&a, &b), compare(&b, &a))
			case compare(&a, &b) <= 0 && compare(&b, &c) <= 0 && compare(&a, &c) > 0:
				t.Fatalf("%s: a comes before b and b before c, but c before a", column.Title)
			}
		}
	})
}

// TestRowsThatAreEqualKeepTheirOrder, also in the opposite order, so that a refresh moves nothing.
func TestRowsThatAreEqualKeepTheirOrder(t *testing.T) {
	rows := rapid.SliceOfN(rapid.Custom(anyMove), 2, 20)
	rapid.Check(t, func(t *rapid.T) {
		table := newMoveTable()
		all := rows.Draw(t, "rows")
		for i := range all {
			all[i].Plugin = strings.Repeat("i", i) // which no column that is drawn first sorts by
		}
		descending := rapid.Bool().Draw(t, "descending")
		table.SortBy("POD", false)
		table.SortBy("ROUND", descending)
		table.SetRows(slices.Clone(all))
		var last *moveRow
		for i := range table.Len() {
			table.Move(-table.Len())
			table.Move(i)
			row := table.Selected()
			if last != nil && last.Round == row.Round && len(last.Plugin) > len(row.Plugin) {
				t.Fatalf("of round %d, row %d comes before row %d", row.Round, len(last.Plugin), len(row.Plugin))
			}
			if last != nil && (last.Round < row.Round) == descending && last.Round != row.Round {
				t.Fatalf("round %d comes before round %d, descending is %t", last.Round, row.Round, descending)
			}
			last = row
		}
	})
}
