package tui

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// seen is what a key sequence is judged by.
type seen struct {
	Crumbs, Selected, Filter, Flash string
	Quit                            bool
}

func (r *rig) seen() seen {
	s := seen{Crumbs: r.crumbs(), Quit: r.quit, Flash: r.m.flash.text}
	if t := r.m.table(); t != nil {
		s.Filter = t.Filter()
	}
	if t := r.m.table(); t != nil {
		if about, ok := t.selected(); ok {
			s.Selected = about.key()
		}
	}
	return s
}

func TestKeySequences(t *testing.T) {
	for name, tc := range map[string]struct {
		keys []string
		want seen
	}{
		"the node table is home":                   {nil, seen{Crumbs: "nodes", Selected: "node-0000"}},
		"j and k move":                             {[]string{"j", "j", "down", "k"}, seen{Crumbs: "nodes", Selected: "node-0002"}},
		"G and g go to the ends":                   {[]string{"G", "j"}, seen{Crumbs: "nodes", Selected: "node-0029"}},
		"g goes back to the first":                 {[]string{"G", "g", "k"}, seen{Crumbs: "nodes", Selected: "node-0000"}},
		"ctrl-f pages, ctrl-b pages back":          {[]string{"ctrl+f", "ctrl+f", "ctrl+b"}, seen{Crumbs: "nodes", Selected: "node-0012"}},
		"shift-c puts the busiest first":           {[]string{"j", "C"}, seen{Crumbs: "nodes", Selected: "node-0004"}},
		"shift-s puts the gravest first":           {[]string{"S", "S", "g"}, seen{Crumbs: "nodes", Selected: "node-0000"}},
		"enter drills down, esc comes back":        {[]string{"j", "enter", "esc"}, seen{Crumbs: "nodes", Selected: "node-0001"}},
		"x explains the node":                      {[]string{"x"}, seen{Crumbs: "nodes > node-0000"}},
		"p lists the node's pods":                  {[]string{"p"}, seen{Crumbs: "nodes > node-0000", Selected: "analytics/report-0000"}},
		"down to a pod, and its node again":        {[]string{"p", "enter", "n"}, seen{Crumbs: "nodes > node-0000 > analytics/report-0000 > node-0000"}},
		"v charts the node":                        {[]string{"v"}, seen{Crumbs: "nodes > chart"}},
		"q goes back before it quits":              {[]string{"v", "q"}, seen{Crumbs: "nodes", Selected: "node-0000"}},
		"q quits from home":                        {[]string{"q"}, seen{Crumbs: "nodes", Selected: "node-0000", Quit: true}},
		"ctrl-c quits from anywhere":               {[]string{":pods", "ctrl+c"}, seen{Crumbs: "nodes", Selected: "node-0000", Quit: true}},
		"esc at home does nothing":                 {[]string{"esc"}, seen{Crumbs: "nodes", Selected: "node-0000"}},
		"a filter narrows while it is typed":       {[]string{"/0011"}, seen{Crumbs: "nodes", Selected: "node-0011", Filter: "0011"}},
		"esc drops a filter being typed":           {[]string{"/0011", "esc"}, seen{Crumbs: "nodes", Selected: "node-0011"}},
		"enter keeps it, esc clears it":            {[]string{"/0011", "enter", "esc"}, seen{Crumbs: "nodes", Selected: "node-0011"}},
		"! inverts":                                {[]string{"/!node-00[01]", "enter"}, seen{Crumbs: "nodes", Selected: "node-0020", Filter: "!node-00[01]"}},
		"half an expression filters nothing yet":   {[]string{"/(00"}, seen{Crumbs: "nodes", Selected: "node-0000"}},
		"a state is searched too":                  {[]string{"/hot", "enter"}, seen{Crumbs: "nodes", Selected: "node-0004", Filter: "hot"}},
		"ctrl-z shows problems only":               {[]string{"ctrl+z", "g"}, seen{Crumbs: "nodes", Selected: "node-0004"}},
		"a command opens pods":                     {[]string{":pods shop", "enter"}, seen{Crumbs: "nodes > pods", Selected: "shop/catalog-0000"}},
		"with a filter after it":                   {[]string{":pods /driver", "enter"}, seen{Crumbs: "nodes > pods", Selected: "analytics/spark-driver-0", Filter: "driver"}},
		"0 shows all namespaces":                   {[]string{":ns shop", "enter", "0", "g"}, seen{Crumbs: "nodes > pods", Selected: "analytics/report-0000"}},
		"tab completes a command":                  {[]string{":ch", "tab", "enter"}, seen{Crumbs: "nodes > chart"}},
		"tab completes a name":                     {[]string{":node node-001", "tab", "enter"}, seen{Crumbs: "nodes > node-0010"}},
		"tab completes a namespace, then a pod":    {[]string{":explain sh", "tab", "s", "e", "a", "r", "c", "h", "-", "r", "tab", "enter"}, seen{Crumbs: "nodes > shop/search-reindex-0"}},
		"up recalls the command before":            {[]string{":chart", "enter", "esc", ":", "up", "enter"}, seen{Crumbs: "nodes > chart"}},
		"down returns to what was being typed":     {[]string{":chart", "enter", "esc", ":no", "up", "down", "tab", "enter"}, seen{Crumbs: "nodes", Selected: "node-0000"}},
		"an unknown command says so":               {[]string{":frobnicate", "enter"}, seen{Crumbs: "nodes", Selected: "node-0000", Flash: `unknown command "frobnicate"; :help lists the commands`}},
		"a command without its name says so":       {[]string{":node", "enter"}, seen{Crumbs: "nodes", Selected: "node-0000", Flash: "node name required: :node NAME"}},
		":nodes goes home":                         {[]string{"enter", ":nodes", "enter"}, seen{Crumbs: "nodes", Selected: "node-0000"}},
		":q ends":                                  {[]string{"enter", ":q", "enter"}, seen{Crumbs: "nodes > node-0000", Quit: true}},
		"backspace on an empty prompt closes it":   {[]string{":x", "backspace", "backspace", "j"}, seen{Crumbs: "nodes", Selected: "node-0001"}},
		"? opens help and closes it":               {[]string{"?", "?"}, seen{Crumbs: "nodes", Selected: "node-0000"}},
		"the same view is not put on itself":       {[]string{":pods", "enter", ":pods", "enter", "esc"}, seen{Crumbs: "nodes", Selected: "node-0000"}},
		"in the chart j goes through the nodes":    {[]string{":chart", "enter", "j", "j", "enter"}, seen{Crumbs: "nodes > chart > node-0001"}},
		"and k back to the cluster":                {[]string{":chart", "enter", "j", "k", "enter"}, seen{Crumbs: "nodes > chart", Flash: "the chart shows the whole cluster; j and k select a node"}},
		"fuzzy letters need their order":           {[]string{"/-f d21", "enter"}, seen{Crumbs: "nodes", Selected: "node-0021", Filter: "-f d21"}},
		"labels are asked for on enter":            {[]string{"/-l pool=gpu", "enter", "j"}, seen{Crumbs: "nodes", Selected: "node-0003", Filter: "-l pool=gpu"}},
		"not while they are typed":                 {[]string{"/-l pool=gpu", "j"}, seen{Crumbs: "nodes", Selected: "node-0000"}},
		"esc brings the labels before back":        {[]string{"/-l pool=gpu", "enter", "/", "ctrl+u", "n", "o", "d", "e", "esc", "j"}, seen{Crumbs: "nodes", Selected: "node-0003", Filter: "-l pool=gpu"}},
		"half a selector is no filter":             {[]string{"/-l pool in (", "enter"}, seen{Crumbs: "nodes", Selected: "node-0000", Flash: `filter "pool in (" is not a label selector: unable to parse requirement: found '', expected: ',', ')' or identifier`}},
		"labels of a node's pods":                  {[]string{"p", "/-l app=search", "enter"}, seen{Crumbs: "nodes > node-0000", Selected: "shop/search-0000", Filter: "-l app=search"}},
		"a command with labels":                    {[]string{":pods shop app=search", "enter"}, seen{Crumbs: "nodes > pods", Selected: "shop/search-0000", Filter: "-l app=search"}},
		"labels with a slash":                      {[]string{":nodes kubernetes.io/hostname=node-0007", "enter"}, seen{Crumbs: "nodes", Selected: "node-0007", Filter: "-l kubernetes.io/hostname=node-0007"}},
		"d describes, y turns, esc comes back":     {[]string{"j", "d", "y", "esc"}, seen{Crumbs: "nodes", Selected: "node-0001"}},
		"y shows a pod's yaml":                     {[]string{":pods shop", "enter", "y"}, seen{Crumbs: "nodes > pods > yaml pod shop/catalog-0000"}},
		"d in an explanation is about its pod":     {[]string{":explain shop/search-0003", "enter", "d"}, seen{Crumbs: "nodes > shop/search-0003 > describe pod shop/search-0003"}},
		"d on a node's tab is about the node":      {[]string{"enter", "tab", "d"}, seen{Crumbs: "nodes > node-0000 > describe node node-0000"}},
		"d on its pods is about the pod":           {[]string{"p", "d"}, seen{Crumbs: "nodes > node-0000 > describe pod analytics/report-0000"}},
		"enter explains what is described":         {[]string{"p", "d", "enter"}, seen{Crumbs: "nodes > node-0000 > describe pod analytics/report-0000 > analytics/report-0000"}},
		":yaml without a name is about the cursor": {[]string{"j", ":yaml", "enter"}, seen{Crumbs: "nodes > yaml node node-0001"}},
		"each chart keeps its node":                {[]string{"v", "enter", ":chart node-0005", "enter", "esc", "esc", "enter"}, seen{Crumbs: "nodes > chart > node-0000"}},
		"shift-o sorts by the marked column":       {[]string{"shift+right", "shift+right", "O", "O"}, seen{Crumbs: "nodes", Selected: "node-0004"}},
		"keys of a prompt are not keys of a table": {[]string{"/jjj", "esc"}, seen{Crumbs: "nodes", Selected: "node-0000"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start().press(tc.keys...)
			r.lines()
			if diff := cmp.Diff(tc.want, r.seen()); diff != "" {
				t.Errorf("unexpected state (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFlashGoesAway(t *testing.T) {
	r := newRig(t, 30).start().press(":nope", "enter")
	r.pass(flashTime - time.Second)
	if r.m.flash.text == "" {
		t.Error("the flash is gone before its time")
	}
	r.press(":nope", "enter")
	r.pass(2 * time.Second)
	if r.m.flash.text == "" {
		t.Error("the first flash's end took the second one away")
	}
	r.pass(flashTime)
	if got := r.m.flash.text; got != "" {
		t.Errorf("flash %q stays", got)
	}
}

func TestStartView(t *testing.T) {
	r := newRig(t, 30)
	r.m.start = "explain shop/search-reindex-0"
	r.start()
	if got := r.crumbs(); got != "nodes > shop/search-reindex-0" {
		t.Errorf("started at %q", got)
	}
}

func TestScrollStopsAtTheEnd(t *testing.T) {
	r := newRig(t, 30).start().press(":explain shop/search-reindex-0", "enter", "enter", "G")
	end := r.m.page().scroll
	r.press("j", "ctrl+f", "j")
	if got := r.m.page().scroll; got != end || end == 0 {
		t.Errorf("scrolled to %d, the end is %d", got, end)
	}
	r.press("k")
	if got := r.m.page().scroll; got != end-1 {
		t.Errorf("one up from the end is %d, want %d", got, end-1)
	}
	r.resize(200, 60)
	if got := r.m.page().scroll; got != 0 {
		t.Errorf("scrolled to %d on a terminal that shows everything", got)
	}
}

func TestNoColourIsNotRaised(t *testing.T) {
	if got := better(plainLook.Profile, colourLook.Profile); got != plainLook.Profile {
		t.Errorf("got %v", got)
	}
}

// TestFinishedPodsComeLast keeps what runs and waits on the first screen of a namespace with many jobs.
func TestFinishedPodsComeLast(t *testing.T) {
	pod := func(name string, phase corev1.PodPhase) podRow { return makePod("jobs", name).phase(phase).row() }
	table := newPodTable(true)
	table.SetRows([]podRow{pod("a", corev1.PodSucceeded), pod("b", corev1.PodFailed), pod("c", corev1.PodRunning), pod("d", corev1.PodPending)})
	if got := table.Selected().Name; got != "c" {
		t.Errorf("the first pod is %s, want c, which runs", got)
	}
}
