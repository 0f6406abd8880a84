package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// command is one word of command mode.
type command struct {
	name    string
	aliases []string
	// args describes the arguments for the help; empty when there are none.
	args string
	help string
	// complete lists the arguments that exist.
	complete func(*Model) []string
	run      func(*Model, string) tea.Cmd
}

var commands []command

// The help command lists the commands: an initializer would be a cycle.
func init() {
	commands = []command{
		{name: "nodes", aliases: []string{"no", "node-list"}, args: "[/FILTER|KEY=VALUE]", help: "all nodes", run: (*Model).commandNodes},
		{name: "pods", aliases: []string{"po"}, args: "[NS] [/FILTER|KEY=VALUE]", help: "pods", complete: (*Model).namespaces, run: (*Model).commandPods},
		{name: "chart", args: "[NODE]", help: "co-location over time", complete: (*Model).nodeNames, run: (*Model).commandChart},
		{name: "node", args: "NAME", help: "where a node's batch resources come from", complete: (*Model).nodeNames, run: (*Model).commandNode},
		{name: "explain", aliases: []string{"x", "pod"}, args: "NAMESPACE/POD", help: "why a pod is pending, or runs where it runs", complete: (*Model).knownPods, run: (*Model).commandExplain},
		{name: "ns", aliases: []string{"namespace"}, args: "NAME|all", help: "pods of one namespace", complete: (*Model).namespaces, run: (*Model).commandNamespace},
		{name: "describe", aliases: []string{"d"}, args: "NODE|NAMESPACE/POD", help: "all that is known of a node or a pod", complete: (*Model).knownObjects, run: commandDetail(describeScreen)},
		{name: "yaml", aliases: []string{"y"}, args: "NODE|NAMESPACE/POD", help: "what is known of a node or a pod as YAML", complete: (*Model).knownObjects, run: commandDetail(yamlScreen)},
		{name: "mouse", help: "mouse on or off", run: (*Model).commandMouse},
		{name: "help", aliases: []string{"h"}, help: "keys of this view, and commands", run: func(m *Model, _ string) tea.Cmd { return m.open(page{kind: helpScreen}) }},
		{name: "quit", aliases: []string{"q", "q!", "exit"}, help: "end the workbench", run: func(*Model, string) tea.Cmd { return tea.Quit }},
	}
}

// execute runs a line of command mode.
func (m *Model) execute(line string) tea.Cmd {
	name, args, _ := strings.Cut(strings.TrimSpace(line), " ")
	if name == "" {
		return nil
	}
	for _, c := range commands {
		if c.name == name || slices.Contains(c.aliases, name) {
			return c.run(m, strings.TrimSpace(args))
		}
	}
	return m.say(fmt.Sprintf("no command %q; :help lists them", name), true)
}

func (m *Model) commandNodes(args string) tea.Cmd {
	_, filter, filtered := scopeOf(args)
	m.pages = []page{{kind: nodesScreen}}
	return tea.Batch(m.poll(), m.filterBy(filter, filtered))
}

func (m *Model) commandPods(args string) tea.Cmd {
	namespace, filter, filtered := scopeOf(args)
	if namespace != "" || !filtered {
		m.namespace = namespaceOf(namespace)
	}
	return tea.Batch(m.open(page{kind: podsScreen}), m.filterBy(filter, filtered))
}

// scopeOf divides the arguments of a list into its scope and its filter: SCOPE /FILTER or SCOPE KEY=VALUE.
func scopeOf(args string) (scope, filter string, filtered bool) {
	at := strings.Index(" "+args, " /")
	if at < 0 && !strings.Contains(args, "=") {
		at = strings.Index(args, "/")
	}
	if at >= 0 {
		return strings.TrimSpace(args[:at]), args[at+1:], true
	}
	words := strings.Fields(args)
	label := slices.IndexFunc(words, func(word string) bool { return strings.Contains(word, "=") })
	if label < 0 {
		return args, "", false
	}
	return strings.Join(words[:label], " "), "-l " + strings.Join(words[label:], " "), true
}

// filterBy applies the filter of a command.
func (m *Model) filterBy(expr string, filtered bool) tea.Cmd {
	if !filtered {
		return nil
	}
	return m.filter(m.table(), expr)
}

func (m *Model) commandChart(node string) tea.Cmd {
	if node == "cluster" {
		node = ""
	}
	return m.openChart(node)
}

func (m *Model) commandNode(name string) tea.Cmd {
	if name == "" {
		return m.say("which node? :node NAME", true)
	}
	return m.open(page{kind: nodeScreen, node: name})
}

func (m *Model) commandExplain(args string) tea.Cmd {
	args = strings.TrimSpace(strings.TrimPrefix(args, "pod "))
	if node, ok := strings.CutPrefix(args, "node "); ok {
		return m.commandNode(strings.TrimSpace(node))
	}
	namespace, pod, ok := strings.Cut(args, "/")
	if !ok {
		namespace, pod = m.defaultNamespace(), args
	}
	if pod == "" {
		return m.say("which pod? :explain NAMESPACE/POD", true)
	}
	return m.open(page{kind: podScreen, namespace: namespace, pod: pod})
}

func (m *Model) defaultNamespace() string {
	switch {
	case m.namespace != "":
		return m.namespace
	case m.cluster.value.Namespace != "":
		return m.cluster.value.Namespace
	}
	return "default"
}

func (m *Model) commandNamespace(name string) tea.Cmd {
	if name == "" {
		return m.say("which namespace? :ns NAME, or :ns all", true)
	}
	return m.setNamespace(namespaceOf(name))
}

func namespaceOf(name string) string {
	if name == "all" {
		return ""
	}
	return name
}

func (m *Model) nodeNames() []string {
	if m.nodes.value == nil {
		return nil
	}
	out := make([]string, len(m.nodes.value.Items))
	for i := range m.nodes.value.Items {
		out[i] = m.nodes.value.Items[i].Name
	}
	return out
}

// knownPods are the pods that were seen last, whichever view asked for them, and the namespaces that have others.
func (m *Model) knownPods() []string {
	var out []string
	for _, name := range m.podsOf.value {
		out = append(out, m.podsOf.question+"/"+name)
	}
	for _, list := range m.podLists() {
		for i := range list.Items {
			out = append(out, list.Items[i].Namespace+"/"+list.Items[i].Name)
		}
	}
	for _, namespace := range m.spaceNames.value {
		out = append(out, namespace+"/")
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (m *Model) namespaces() []string {
	out := append([]string{"all"}, m.spaceNames.value...)
	for _, list := range m.podLists() {
		for i := range list.Items {
			out = append(out, list.Items[i].Namespace)
		}
	}
	slices.Sort(out[1:])
	return slices.Compact(out)
}
