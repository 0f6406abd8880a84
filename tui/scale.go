package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
)

// scaleScreen shows whether more pods of a workload fit.
func scaleScreen(m *Model) *screen {
	s := &placement{Model: m}
	return &screen{
		name: scaleName,
		doc: "What scaling a Deployment, StatefulSet or ReplicaSet would do: which nodes its new pods get, what refuses the first one without a node, and " +
			"how full the cluster is then. Nothing is scaled, and koord-scheduler is asked once, again with `ctrl-r`",
		commands: []command{{name: "scale", args: "NS/KIND/NAME REPLICAS", help: "forecast more replicas of a workload", run: (*Model).commandScale}},
		keys:     []action{bind(groupView, true, "enter", "expand nodes", s.expand, "enter")},
		crumb:    func(p *page) string { return "scale " + scaled(p.about) },
		title:    func(p *page) string { return "scale " + cell.Clean(scaled(p.about)) },
		ask: func(p *page) tea.Cmd {
			return s.askAbout(scaled(p.about), source.CopiedPods{Kind: p.about.kind, Namespace: p.about.namespace, Name: p.about.name, Replicas: p.about.replicas})
		},
		once:    true,
		content: s.content,
	}
}

// scaled is a workload with the replicas that it would have, as a command names it.
func scaled(about object) string {
	return fmt.Sprintf("%s/%s/%s %d", about.namespace, about.kind.Name, about.name, about.replicas)
}

func (m *Model) commandScale(args string) tea.Cmd {
	about, err := m.scaledBy(args)
	if err != nil {
		return m.say(err.Error(), true)
	}
	return m.open(scaleName, about)
}

// scaledBy is the workload that a command names. Without a namespace it is in that of the context, as for kubectl.
func (m *Model) scaledBy(args string) (object, error) {
	words := strings.Fields(args)
	if len(words) != 2 {
		return object{}, fmt.Errorf("workload and replicas required: :scale NAMESPACE/KIND/NAME REPLICAS")
	}
	parts := strings.Split(words[0], "/")
	if len(parts) == 2 {
		parts = slices.Insert(parts, 0, m.defaultNamespace())
	}
	if len(parts) != 3 || slices.Contains(parts, "") {
		return object{}, fmt.Errorf("%q: must be NAMESPACE/KIND/NAME, such as shop/deployment/web", words[0])
	}
	at := slices.IndexFunc(source.WorkloadKinds, func(k source.Kind) bool { return slices.Contains(k.Words(), parts[1]) })
	if at < 0 {
		return object{}, fmt.Errorf("%q: must be a deployment, statefulset or replicaset", parts[1])
	}
	replicas, err := strconv.ParseInt(words[1], 10, 32)
	if err != nil || replicas < 1 {
		return object{}, fmt.Errorf("replicas %q: must be a number, 1 or more", words[1])
	}
	return object{kind: source.WorkloadKinds[at], namespace: parts[0], name: parts[2], replicas: int32(replicas)}, nil
}
