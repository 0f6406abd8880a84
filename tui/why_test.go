package tui

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/fixture"
)

// catalogued is a source whose objects are the ones that it lists; a user may not get those of the kinds that are forbidden.
type catalogued struct {
	*fixture.Scripted
	objects   []object
	forbidden map[source.Kind]bool
}

func (c *catalogued) Object(_ context.Context, kind source.Kind, namespace, name string) (*unstructured.Unstructured, error) {
	if c.Err != nil {
		return nil, c.Err
	}
	if c.forbidden[kind] {
		return nil, finding.Wrap(errors.New("get "+kind.Plural+": forbidden"), finding.Forbidden, "")
	}
	for _, o := range c.objects {
		if o.kind == kind && o.name == name && (!kind.Namespaced || o.namespace == namespace) {
			return &unstructured.Unstructured{Object: map[string]any{}}, nil
		}
	}
	return nil, finding.Wrap(errors.New(kind.Name+" not found"), finding.NotFound, "")
}

// catalogue are the objects of the tests.
var catalogue = []object{
	podObject("shop", "search-0003"), nodeObject("node-0003"),
	podObject("default", "twice"), {kind: source.KindQuota, namespace: "default", name: "twice"},
	{kind: source.KindDevice, name: "node-0003"},
}

func TestWhyFindsOutWhatHasTheName(t *testing.T) {
	for name, tc := range map[string]struct {
		line string
		want seen
	}{
		"a pod of another namespace":            {":why shop/search-0003", seen{Crumbs: "nodes > shop/search-0003"}},
		"a node, of which there is a device":    {":why node-0003", seen{Crumbs: "nodes > node-0003"}},
		"two objects are listed":                {":why twice", seen{Crumbs: "nodes > why default/twice", Selected: "default/twice"}},
		"nothing has the name":                  {":why nothing", seen{Crumbs: "nodes > why default/nothing"}},
		"a kind and a name":                     {":why pod shop/search-0003", seen{Crumbs: "nodes > shop/search-0003"}},
		"a kind and a name as kubectl takes":    {":why node/node-0003", seen{Crumbs: "nodes > node-0003"}},
		"a kind and a name as koordctl takes":   {":why pod/search-0003 -n shop", seen{Crumbs: "nodes > shop/search-0003"}},
		"a name as koordctl takes":              {":why search-0003 -n shop", seen{Crumbs: "nodes > shop/search-0003"}},
		"explain takes any kind, too":           {":explain quota default/twice", seen{Crumbs: "nodes > twice"}},
		"a code":                                {":why KOORD0102", seen{Crumbs: "nodes > KOORD0102"}},
		"a code in short":                       {":why 102", seen{Crumbs: "nodes > KOORD0102"}},
		"a code by the command of codes":        {":code koord0102", seen{Crumbs: "nodes > KOORD0102"}},
		"what is no code":                       {":code x", seen{Crumbs: "nodes", Selected: "node-0000", Flash: `code "x": must be KOORD followed by four digits`}},
		"a kind that is not known":              {":why cat tom", seen{Crumbs: "nodes", Selected: "node-0000", Flash: `no kind "cat" is known here`}},
		"without a name, what the cursor is on": {":why", seen{Crumbs: "nodes > node-0000"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30)
			r.m.source = &catalogued{Scripted: r.src, objects: catalogue}
			got := r.start().press(tc.line, "enter").seen()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("unexpected state (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhyLeavesNoPageBehind(t *testing.T) {
	r := newRig(t, 30)
	r.m.source = &catalogued{Scripted: r.src, objects: catalogue}
	r.start().press(":why shop/search-0003", "enter", "esc")
	if got := r.seen().Crumbs; got != "nodes" {
		t.Errorf("esc leads to %q, want nodes", got)
	}
}

func TestWhySaysWhatItMayNotSee(t *testing.T) {
	r := newRig(t, 30)
	r.m.source = &catalogued{Scripted: r.src, objects: catalogue, forbidden: map[source.Kind]bool{source.KindQuota: true}}
	r.start().press(":why nothing", "enter")
	want := []string{"get elasticquotas: forbidden"}
	if diff := cmp.Diff(want, r.m.page().content().incomplete); diff != "" {
		t.Errorf("incomplete (-want +got):\n%s", diff)
	}
}
