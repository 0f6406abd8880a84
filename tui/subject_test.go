package tui

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/source"
)

// TestAnObjectWithoutANamespaceIsInThatOfTheContext, whichever command names it and however it writes the kind.
func TestAnObjectWithoutANamespaceIsInThatOfTheContext(t *testing.T) {
	for line, want := range map[string]object{
		":gang tune":                     gangObject("default", "tune"),
		":gang ml/tune":                  gangObject("ml", "tune"),
		":engine shop/trino":             workersObject("shop", "trino"),
		":describe ew shop/trino":        workersObject("shop", "trino"),
		":quota spark":                   quotaObject("default", "spark"),
		":describe gang tune":            gangObject("default", "tune"),
		":describe podgroup ml/tune":     gangObject("ml", "tune"),
		":describe pg ml/tune":           gangObject("ml", "tune"),
		":yaml pod web-1":                podObject("default", "web-1"),
		":yaml po shop/web-1":            podObject("shop", "web-1"),
		":yaml elasticquota  quotas/a":   quotaObject("quotas", "a"),
		":describe node node-0001":       nodeObject("node-0001"),
		":describe reservation search":   reservationObject("search"),
		":describe migration hot-4-a":    migrationObject("hot-4-a"),
		":describe podmigrationjobs a/b": migrationObject("a/b"), // it has no namespace that could be cut off
		":describe node-0001":            nodeObject("node-0001"),
		":describe shop/web-1":           podObject("shop", "web-1"),
	} {
		t.Run(line, func(t *testing.T) {
			r := newRig(t, 30).start().press(line, "enter")
			if got := r.m.page().about; got != want || r.m.flash.text != "" {
				t.Errorf("it is about %q in the namespace %q, and says %q; want %v", got.name, got.namespace, r.m.flash.text, want)
			}
		})
	}
	r := newRig(t, 30)
	r.m.namespace = "shop"
	if got := r.start().press(":describe pod web-1", "enter").m.page().about; got != podObject("shop", "web-1") {
		t.Errorf("it is about %v, and the workbench shows the namespace shop", got)
	}
}

// TestACommandWithoutItsObjectSaysWhatItTakes, as the help writes it, or takes the object under the cursor.
func TestACommandWithoutItsObjectSaysWhatItTakes(t *testing.T) {
	for _, s := range newRig(t, 1).m.screens {
		if s.subject == nil {
			continue
		}
		c := s.commands[0]
		r := newRig(t, 30).start().press(":"+c.name, "enter")
		want := "name required: :" + c.name + " " + c.args
		if got := r.m.flash.text; !strings.HasSuffix(got, want) || !r.m.flash.bad || r.crumbs() != nodesName {
			t.Errorf(":%s says %q, want %q", c.name, got, want)
		}
	}
	for line, want := range map[string]string{
		":describe frob a": `no kind "frob" is known here: :describe NODE|NAMESPACE/POD or KIND NAME`,
		":yaml frob a b":   `no kind "frob" is known here: :yaml NODE|NAMESPACE/POD or KIND NAME`,
	} {
		if r := newRig(t, 30).start().press(line, "enter"); r.m.flash.text != want || r.crumbs() != nodesName {
			t.Errorf("%s says %q, want %q", line, r.m.flash.text, want)
		}
	}
	if r := newRig(t, 0).start().press(":describe", "enter"); r.m.flash.text != "name required: :describe NODE|NAMESPACE/POD" {
		t.Errorf("without a row under the cursor it says %q", r.m.flash.text)
	}
}

// TestNamesForCompletionAreThoseThatWereListed, of each kind with its word before it, but for nodes and pods.
func TestNamesForCompletionAreThoseThatWereListed(t *testing.T) {
	r := newRig(t, 30).start()
	for _, command := range []string{":pods analytics", ":migrations", ":quotas", ":reservations", ":gangs", ":workers", ":devices", ":workloads kube-system"} {
		r.press(command, "enter")
	}
	names := r.m.objectNames()
	for _, want := range []string{"node-0000", "analytics/spark-driver-0", "migration hot-4-a", "quota quotas/spark", "reservation big", "gang ml/train"} {
		if !slices.Contains(names, want) {
			t.Errorf("%q is not offered", want)
		}
	}
	for line, want := range map[string][]string{
		"describe gang ml/t":   {"describe gang ml/train", "describe gang ml/tune"},
		"yaml quota quotas/t":  {"yaml quota quotas/trial", "yaml quota quotas/typo"},
		"gang ml/s":            {"gang ml/sweep"},
		"quota quotas/sp":      {"quota quotas/spark"},
		"migration m":          {"migration manual"},
		"engine shop/t":        {"engine shop/trino"},
		"events workers ana":   {"events workers analytics/impala", "events workers analytics/presto", "events workers analytics/spark"},
		"reservation c":        {"reservation catalog", "reservation checkout"},
		"describe reservation": {"describe reservation big", "describe reservation catalog", "describe reservation checkout", "describe reservation nightly", "describe reservation search"},
	} {
		if diff := cmp.Diff(want, r.m.complete(line)); diff != "" {
			t.Errorf("%q: unexpected completion (-want +got):\n%s", line, diff)
		}
	}
}

// TestEveryNameThatIsOfferedCanBeOpened: what completion writes is what the commands read.
func TestEveryNameThatIsOfferedCanBeOpened(t *testing.T) {
	r := newRig(t, 30).start()
	for _, command := range []string{":pods analytics", ":migrations", ":quotas", ":reservations", ":gangs", ":workers", ":devices", ":workloads kube-system"} {
		r.press(command, "enter")
	}
	kinds := map[source.Kind]int{}
	for _, name := range r.m.objectNames() {
		about := r.m.objectNamed(name)
		if about.kind.Namespaced != (about.namespace != "") || r.m.explainerOf(about.kind) == nil {
			t.Errorf("%q names %v", name, about)
		}
		if key := about.key(); !strings.HasSuffix(name, key) {
			t.Errorf("%q names %s", name, key)
		}
		kinds[about.kind]++
	}
	if len(kinds) != len(samples) {
		t.Errorf("names of %d kinds, want those of %d", len(kinds), len(samples))
	}
}
