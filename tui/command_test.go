package tui

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

func TestScopeAndFilterOfACommand(t *testing.T) {
	type divided struct {
		Scope, Filter string
		Filtered      bool
	}
	for name, tc := range map[string]struct {
		args string
		want divided
	}{
		"nothing":                     {"", divided{}},
		"a scope":                     {"shop", divided{Scope: "shop"}},
		"a filter":                    {"/web", divided{Filter: "web", Filtered: true}},
		"both":                        {"shop /web-[12]", divided{Scope: "shop", Filter: "web-[12]", Filtered: true}},
		"joined to the scope":         {"shop/web", divided{Scope: "shop", Filter: "web", Filtered: true}},
		"an empty filter clears it":   {"shop /", divided{Scope: "shop", Filtered: true}},
		"a label":                     {"app=web", divided{Filter: "-l app=web", Filtered: true}},
		"a scope and labels":          {"shop app=web,tier!=cache", divided{Scope: "shop", Filter: "-l app=web,tier!=cache", Filtered: true}},
		"a label with a slash":        {"kubernetes.io/os=linux", divided{Filter: "-l kubernetes.io/os=linux", Filtered: true}},
		"a filter with = is no label": {"shop /a=b", divided{Scope: "shop", Filter: "a=b", Filtered: true}},
		"a filter with two slashes":   {"shop /a/b", divided{Scope: "shop", Filter: "a/b", Filtered: true}},
		"a label selector of its own": {"/-l app in (web)", divided{Filter: "-l app in (web)", Filtered: true}},
		"words that are only a scope": {"shop extra", divided{Scope: "shop extra"}},
	} {
		t.Run(name, func(t *testing.T) {
			scope, filter, filtered := scopeOf(tc.args)
			if diff := cmp.Diff(tc.want, divided{scope, filter, filtered}); diff != "" {
				t.Errorf("unexpected parts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCommands(t *testing.T) {
	for name, tc := range map[string]struct {
		line string
		want seen
	}{
		"blanks are no command":                {":   ", seen{Crumbs: "nodes", Selected: "node-0000"}},
		"blanks around are nothing":            {":  chart  ", seen{Crumbs: "nodes > chart"}},
		"an alias":                             {":po", seen{Crumbs: "nodes > pods", Selected: "analytics/report-0000"}},
		"explain takes a node as kubectl does": {":explain node node-0003", seen{Crumbs: "nodes > node-0003"}},
		"and a pod":                            {":explain pod shop/search-0003", seen{Crumbs: "nodes > shop/search-0003"}},
		"a pod of the context's namespace":     {":explain search-0003", seen{Crumbs: "nodes > default/search-0003"}},
		"explain without a pod":                {":explain", seen{Crumbs: "nodes", Selected: "node-0000", Flash: "pod name required: :explain NAMESPACE/POD"}},
		"ns without a name":                    {":ns", seen{Crumbs: "nodes", Selected: "node-0000", Flash: "namespace required: :ns NAME or :ns all"}},
		"all namespaces":                       {":ns all", seen{Crumbs: "nodes > pods", Selected: "analytics/report-0000"}},
		"the chart of the cluster by name":     {":chart cluster", seen{Crumbs: "nodes > chart"}},
		"help":                                 {":h", seen{Crumbs: "nodes > help"}},
		"mouse":                                {":mouse", seen{Crumbs: "nodes", Selected: "node-0000", Flash: "mouse on; hold shift to select text"}},
		"quit, as vim does":                    {":q!", seen{Crumbs: "nodes", Selected: "node-0000", Quit: true}},
		"a filter that does not parse":         {":nodes /(", seen{Crumbs: "nodes", Selected: "node-0000", Flash: "filter \"(\" is not a regular expression: error parsing regexp: missing closing ): `(`"}},
		"a command is not its beginning":       {":node-lis", seen{Crumbs: "nodes", Selected: "node-0000", Flash: `unknown command "node-lis"; :help lists the commands`}},
		"upper case is another word":           {":PODS", seen{Crumbs: "nodes", Selected: "node-0000", Flash: `unknown command "PODS"; :help lists the commands`}},
	} {
		t.Run(name, func(t *testing.T) {
			got := newRig(t, 30).start().press(tc.line, "enter").seen()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("unexpected state (-want +got):\n%s", diff)
			}
		})
	}
}

// TestThePodOfACommandIsInTheNamespaceThatIsShown, else in the context's, else in default.
func TestThePodOfACommandIsInTheNamespaceThatIsShown(t *testing.T) {
	r := newRig(t, 1)
	if got := r.m.defaultNamespace(); got != "default" {
		t.Errorf("%q when nothing is known, want default", got)
	}
	r.m.cluster.value.Namespace = "team-a"
	if got := r.m.defaultNamespace(); got != "team-a" {
		t.Errorf("%q, want that of the context", got)
	}
	r.m.namespace = "shop"
	if got := r.m.defaultNamespace(); got != "shop" {
		t.Errorf("%q, want the one that is shown", got)
	}
}

func TestCompletion(t *testing.T) {
	for name, tc := range map[string]struct {
		line string
		want []string
	}{
		"commands by their beginning":     {"nod", []string{"nodes", "node"}},
		"a whole word has nothing to add": {"yaml", nil},
		"an alias is not offered":         {"po", []string{"pods"}},
		"the nodes":                       {"node node-002", []string{"node node-0020", "node node-0021", "node node-0022", "node node-0023", "node node-0024", "node node-0025", "node node-0026", "node node-0027"}},
		"of an alias too":                 {"y node-0029", nil},
		"by an alias":                     {"y node-002", []string{"y node-0020", "y node-0021", "y node-0022", "y node-0023", "y node-0024", "y node-0025", "y node-0026", "y node-0027"}},
		"namespaces":                      {"ns a", []string{"ns all", "ns analytics"}},
		"namespaces before pods":          {"explain sh", []string{"explain shop/"}},
		"pods of a namespace":             {"explain shop/search-r", []string{"explain shop/search-reindex-0"}},
		"several nodes, each once":        {"drain node-0020 node-002", []string{"drain node-0020 node-0021", "drain node-0020 node-0022", "drain node-0020 node-0023", "drain node-0020 node-0024", "drain node-0020 node-0025", "drain node-0020 node-0026", "drain node-0020 node-0027", "drain node-0020 node-0028"}},
		"one node, where one is taken":    {"node node-0020 node-002", nil},
		"nothing like it":                 {"node zzz", nil},
		"a command without arguments":     {"quit n", nil},
		"no command at all":               {"frob n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start().press(":")
			r.m.prompt.input.Set(tc.line)
			r.run(r.m.askNames(tc.line))
			if diff := cmp.Diff(tc.want, r.m.complete(tc.line)); diff != "" {
				t.Errorf("unexpected completion (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCompletionOffersTheCommandsInTheirOrder, as many as are looked at, when nothing is typed.
func TestCompletionOffersTheCommandsInTheirOrder(t *testing.T) {
	m := newRig(t, 1).m
	if diff := cmp.Diff(m.commandNames()[:maxCandidates], m.complete("")); diff != "" {
		t.Errorf("unexpected completion (-want +got):\n%s", diff)
	}
}

// TestCompletionKnowsWhatWasListed, also where names may not be asked for.
func TestCompletionKnowsWhatWasListed(t *testing.T) {
	r := newRig(t, 30).start().press(":pods shop", "enter")
	r.src.Err = notPermitted("list names")
	r.press(":")
	if got := r.m.complete("explain shop/search-000"); len(got) != maxCandidates || got[0] != "explain shop/search-0000" {
		t.Errorf("unexpected completion %q", got)
	}
	if got := r.m.complete("ns s"); len(got) != 1 || got[0] != "ns shop" {
		t.Errorf("unexpected completion %q", got)
	}
	empty := newRig(t, 1)
	if got := empty.m.nodeNames(); got != nil {
		t.Errorf("%q before the nodes are known", got)
	}
	if got := empty.m.objectNames(); len(got) != 0 {
		t.Errorf("%q before anything is known", got)
	}
}

// TestObjectsAreNamedByTheirScope: a name with a slash is of a kind with namespaces.
func TestObjectsAreNamedByTheirScope(t *testing.T) {
	m := newRig(t, 1).m
	for arg, want := range map[string]object{
		"node-1":      nodeObject("node-1"),
		"shop/web-1":  podObject("shop", "web-1"),
		"/web-1":      podObject("", "web-1"),
		"shop/a/b":    podObject("shop", "a/b"),
		"migration a": migrationObject("a"),
		"pmj  a":      migrationObject("a"),
		"po shop/a":   podObject("shop", "a"),
		"frob a":      {},
	} {
		if got := m.objectNamed(arg); got != want {
			t.Errorf("%q names %v, want %v", arg, got, want)
		}
	}
	m.screens = []*screen{m.screenOf(helpName)}
	if got := m.objectNamed("node-1"); got != (object{}) {
		t.Errorf("%v, and no screen explains it", got)
	}
	if cmd := m.explain(nodeObject("node-1")); cmd != nil {
		t.Error("an object that no screen explains is explained")
	}
}

// TestThePromptIsALineEditor with history and completion.
func TestThePromptIsALineEditor(t *testing.T) {
	for name, tc := range map[string]struct {
		keys      []string
		wantText  string
		wantGhost string
	}{
		"what is typed":                          {[]string{":pods"}, "pods", ""},
		"the completion follows it":              {[]string{":ch"}, "ch", "art"},
		"tab takes it":                           {[]string{":ch", "tab"}, "chart", ""},
		"so does the right arrow":                {[]string{":ch", "right"}, "chart", ""},
		"not in the middle of the line":          {[]string{":ch", "left", "tab"}, "ch", ""},
		"nothing to take is nothing":             {[]string{":zzz", "tab", "right"}, "zzz", ""},
		"backspace":                              {[]string{":podx", "backspace"}, "pod", "s"},
		"ctrl-u clears the line":                 {[]string{":podx", "ctrl+u"}, "", ""},
		"up is the command before":               {[]string{":chart", "enter", ":pods", "enter", ":", "up"}, "pods", ""},
		"and the one before that":                {[]string{":chart", "enter", ":pods", "enter", ":", "up", "up"}, "chart", ""},
		"there is none before the first":         {[]string{":chart", "enter", ":", "up", "up", "up"}, "chart", ""},
		"down comes back to what was typed":      {[]string{":chart", "enter", ":no", "up", "down"}, "no", "des"},
		"nothing comes after it":                 {[]string{":chart", "enter", ":no", "down", "down"}, "no", "des"},
		"the same twice is kept once":            {[]string{":pods", "enter", ":pods", "enter", ":chart", "enter", ":", "up", "up", "up"}, "pods", ""},
		"ctrl-p and ctrl-n are up and down":      {[]string{":chart", "enter", ":", "ctrl+p", "ctrl+n", "ctrl+p"}, "chart", ""},
		"a history is not edited by browsing it": {[]string{":chart", "enter", ":", "up", "backspace", "down", "up"}, "chart", ""},
		"a filter has no completion":             {[]string{"/no", "tab"}, "no", ""},
		"letters of other scripts":               {[]string{":ns 界ö"}, "ns 界ö", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start().press(tc.keys...)
			if got := r.m.prompt.input.Value(); got != tc.wantText {
				t.Errorf("typed %q, want %q", got, tc.wantText)
			}
			if got := r.m.ghost(); got != tc.wantGhost {
				t.Errorf("completion %q, want %q", got, tc.wantGhost)
			}
			if c := r.m.promptCursor(); c == nil || c.X < promptLead || c.X >= r.m.width {
				t.Errorf("cursor %v", c)
			}
		})
	}
}

func TestTheHistoryOfCommandsIsBounded(t *testing.T) {
	r := newRig(t, 1)
	for i := range maxHistory + 20 {
		r.m.prompt.remember(strings.Repeat("x", i%7+1) + string(rune('a'+i%26)))
	}
	r.m.prompt.remember("")
	if got := len(r.m.prompt.history); got != maxHistory {
		t.Errorf("%d commands are kept, want %d", got, maxHistory)
	}
}

// TestLongLinesScrollInThePrompt, so that the cursor is always on the terminal.
func TestLongLinesScrollInThePrompt(t *testing.T) {
	r := newRig(t, 1).start().press(":" + strings.Repeat("abcdefghij", 12))
	text, _ := r.m.promptText(r.m.width)
	if len(text) > r.m.width-promptLead || !strings.HasSuffix(text, "hij") {
		t.Errorf("shows %q", text)
	}
	r.lines()
	if c := r.m.promptCursor(); c == nil || c.X >= r.m.width {
		t.Errorf("cursor %v", c)
	}
}

// TestListsWithoutLabelsSaySo, rather than keeping no row.
func TestListsWithoutLabelsSaySo(t *testing.T) {
	r := newRig(t, 30).start()
	r.m.nodes.shown.labelled = nil
	r.press("/-l app=web", "enter")
	if got := r.m.flash.text; got != "no labels are known here; filter by text" {
		t.Errorf("says %q", got)
	}
	if r.m.table().Filter() != "" || r.m.table().Len() != 30 {
		t.Error("the filter is in force all the same")
	}
}

// TestAnAnswerWithoutRowsIsAllowed: a list that says nothing of what it lacks has no banner.
func TestAnAnswerWithoutRowsIsAllowed(t *testing.T) {
	r := newRig(t, 30).start()
	r.m.nodes.incomplete = nil
	r.m.nodes.value = &diagnostics.NodeOverviewList{Incomplete: missing}
	if got := r.m.page().content().incomplete; got != nil {
		t.Errorf("unexpected %q", got)
	}
}
