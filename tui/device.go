package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/deviceview"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
)

// deviceAnswer is the devices of a node, and what could not be seen of them.
type deviceAnswer struct {
	*diagnostics.DeviceOverview
	incomplete []string
}

// deviceScreen shows each device of a node.
func deviceScreen(m *Model) *screen {
	var answer feed[deviceAnswer]
	return &screen{
		name: deviceName,
		doc:  "The devices of one node: what of each is free, who holds it, where it is and what is near it, GPU partitions, and what is wrong",
		commands: []command{{name: "device", args: "NAME", help: "show each device of a node", complete: (*Model).knownDevices,
			run: func(m *Model, args string) tea.Cmd { return m.commandAbout(source.KindDevice, "device", args) }}},
		keys: []action{
			bind(groupView, true, "x p", "explain pod", func(m *Model) tea.Cmd {
				if !answer.known {
					return nil
				}
				return m.explainKnown(holderOf(answer.value.DeviceOverview))
			}, "x", "p"),
			bind(groupView, true, "n", "node", func(m *Model) tea.Cmd { return m.explainKnown(nodeObject(m.page().about.name)) }, "n"),
			whatIfAction(), describeAction(), yamlAction(),
		},
		subject: &subject{kind: source.KindDevice, names: m.knownDevices, describe: m.describeDevice, explanation: deviceExplanation},
		crumb:   func(p *page) string { return p.about.name },
		title:   func(p *page) string { return "device " + cell.Clean(p.about.name) },
		ask: func(p *page) tea.Cmd {
			src, about := m.source, p.about
			return ask(m, &answer, about.name, func(ctx context.Context) (deviceAnswer, error) { return askDevice(ctx, src, about) })
		},
		content: func(*page) content {
			return content{feed: &answer.feedState, incomplete: answer.value.incomplete, text: func(width int) []string { return m.deviceText(answer.value.DeviceOverview, width) }}
		},
	}
}

// knownDevices are the nodes whose devices were listed last.
func (m *Model) knownDevices() []string { return m.deviceNames() }

func askDevice(ctx context.Context, src source.Source, about object) (deviceAnswer, error) {
	all, err := askDevices(ctx, src, about.name)
	if err != nil {
		return deviceAnswer{}, err
	}
	if len(all.Items) == 0 {
		return deviceAnswer{}, finding.Wrap(fmt.Errorf("device %q not found", about.name), finding.NotFound, "kubectl get devices")
	}
	return deviceAnswer{&all.Items[0], all.Incomplete}, nil
}

func deviceExplanation(ctx context.Context, src source.Source, about object) (any, []string, error) {
	a, err := askDevice(ctx, src, about)
	if err != nil {
		return nil, nil, err
	}
	a.TypeMeta = metav1.TypeMeta{APIVersion: diagnostics.GroupVersion.String(), Kind: "DeviceOverview"}
	return a.DeviceOverview, a.incomplete, nil
}

func (m *Model) describeDevice(ctx context.Context, src source.Source, about object) (detail, error) {
	a, err := askDevice(ctx, src, about)
	if err != nil {
		return detail{}, err
	}
	return detail{text: func(width int) []string { return m.deviceText(a.DeviceOverview, width) }, incomplete: a.incomplete}, nil
}

// deviceText is each device of a node as the command line prints it, below its types.
func (m *Model) deviceText(o *diagnostics.DeviceOverview, width int) []string {
	glyph, text := deviceMark(deviceview.Gravest(o), m.st)
	lines := []string{m.heading(text.Render(glyph+" "+string(deviceview.Gravest(o))), o.Name, "", width)}
	lines = append(append(lines, m.deviceFacts(o, width)...), "")
	return append(lines, m.printed(width, func(b *strings.Builder, options printer.Options) error {
		return printer.DeviceMinors(b, &diagnostics.DeviceOverviewList{Items: []diagnostics.DeviceOverview{*o}}, options)
	})...)
}
