package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
)

// detail is what the describe and yaml screens show of one node or pod: one of the three.
type detail struct {
	node       *diagnostics.NodeOverview
	pod        *diagnostics.PodOverview
	yaml       []string
	incomplete []string
}

// objectReader is a source that can also read objects whole. The yaml screen of one that cannot shows the explanation,
// which explain -o yaml prints.
type objectReader interface {
	// Object is the node or pod of that name as the API server has it; the namespace of a node is ignored.
	Object(ctx context.Context, kind source.Kind, namespace, name string) (*unstructured.Unstructured, error)
}

var (
	describeAction = bind(groupView, true, "d", "describe", openDetail(describeScreen), "d")
	yamlAction     = bind(groupView, true, "y", "yaml", openDetail(yamlScreen), "y")
)

var detailActions = []action{
	bind(groupView, true, "enter", "explain", (*Model).explainDetail, "enter", "x"),
	bind(groupView, true, "d", "describe", turnDetail(describeScreen), "d"),
	bind(groupView, true, "y", "yaml", turnDetail(yamlScreen), "y"),
}

// openDetail opens a screen about the node or pod under the cursor, or the one that the current screen is about.
func openDetail(kind screenKind) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		s := *m.page()
		switch t := m.table(); {
		case t == nil:
			return m.open(page{kind: kind, node: s.node, namespace: s.namespace, pod: s.pod})
		case s.kind == nodesScreen:
			if row := m.nodeTable.Selected(); row != nil {
				return m.open(page{kind: kind, node: row.Name})
			}
		default:
			if row := m.selectedPod(); row != nil {
				return m.open(page{kind: kind, namespace: row.Namespace, pod: row.Name})
			}
		}
		return nil
	}
}

// turnDetail changes between the two screens about the same object, in place.
func turnDetail(kind screenKind) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		s := m.page()
		s.kind, s.scroll = kind, 0
		return m.poll()
	}
}

func (m *Model) explainDetail() tea.Cmd {
	s := m.page()
	if s.node != "" {
		return m.open(page{kind: nodeScreen, node: s.node})
	}
	return m.open(page{kind: podScreen, namespace: s.namespace, pod: s.pod})
}

// commandDetail is a command about a node, or about a pod where the name has a namespace.
func commandDetail(kind screenKind) func(*Model, string) tea.Cmd {
	return func(m *Model, args string) tea.Cmd {
		namespace, pod, ok := strings.Cut(args, "/")
		switch {
		case args == "":
			return openDetail(kind)(m)
		case ok:
			return m.open(page{kind: kind, namespace: namespace, pod: pod})
		}
		return m.open(page{kind: kind, node: args})
	}
}

// knownObjects are the names that commands about nodes and pods complete.
func (m *Model) knownObjects() []string { return append(m.nodeNames(), m.knownPods()...) }

// askDetail asks for what a describe or yaml screen shows.
func (m *Model) askDetail(s page) tea.Cmd {
	src := m.source
	return ask(m, &m.detail, s.crumb(), func(ctx context.Context) (detail, error) {
		switch {
		case s.kind == yamlScreen:
			return yamlOf(ctx, src, s)
		case s.node != "":
			return describeNode(ctx, src, s.node)
		}
		return describePod(ctx, src, s.namespace, s.pod)
	})
}

func describeNode(ctx context.Context, src source.Source, name string) (detail, error) {
	list, err := src.Nodes(ctx, source.NodeQuery{Names: []string{name}, Operands: true})
	if err != nil {
		return detail{}, err
	}
	if len(list.Items) == 0 {
		return detail{}, fmt.Errorf("describe node %q: the answer has no node", name)
	}
	return detail{node: &list.Items[0], incomplete: list.Incomplete}, nil
}

func describePod(ctx context.Context, src source.Source, namespace, name string) (detail, error) {
	list, err := src.Pods(ctx, source.PodQuery{Namespace: namespace, Names: []string{name}})
	if err != nil {
		return detail{}, err
	}
	if len(list.Items) == 0 {
		return detail{}, fmt.Errorf("describe pod %s/%s: the answer has no pod", namespace, name)
	}
	return detail{pod: &list.Items[0], incomplete: list.Incomplete}, nil
}

// yamlOf reads the object, or its explanation where the source cannot read objects.
func yamlOf(ctx context.Context, src source.Source, s page) (detail, error) {
	object, incomplete, err := objectOf(ctx, src, s)
	if err != nil {
		return detail{}, err
	}
	text, err := yaml.Marshal(object)
	if err != nil {
		return detail{}, fmt.Errorf("write %s as YAML: %w", s.object(), err)
	}
	return detail{yaml: strings.Split(strings.TrimRight(string(text), "\n"), "\n"), incomplete: incomplete}, nil
}

func objectOf(ctx context.Context, src source.Source, s page) (object any, incomplete []string, err error) {
	if reader, ok := src.(objectReader); ok {
		kind, name := source.KindNode, s.node
		if name == "" {
			kind, name = source.KindPod, s.pod
		}
		u, err := reader.Object(ctx, kind, s.namespace, name)
		if err != nil {
			return nil, nil, err
		}
		u = u.DeepCopy()
		u.SetManagedFields(nil) // as kubectl does: nobody reads them
		return u.Object, nil, nil
	}
	version := diagnostics.GroupVersion.String()
	if s.node != "" {
		e, err := src.ExplainNode(ctx, s.node, diagnostics.NodeExplanationSpec{NodeName: s.node})
		if err != nil {
			return nil, nil, err
		}
		e = e.DeepCopy()
		e.TypeMeta = metav1.TypeMeta{APIVersion: version, Kind: "NodeExplanation"}
		return e, e.Status.Incomplete, nil
	}
	e, err := src.ExplainPod(ctx, s.namespace, s.pod, diagnostics.PodExplanationSpec{PodName: s.pod})
	if err != nil {
		return nil, nil, err
	}
	e = e.DeepCopy()
	e.TypeMeta = metav1.TypeMeta{APIVersion: version, Kind: "PodExplanation"}
	return e, e.Status.Incomplete, nil
}
