package tui

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/history"
	"koordinator.sh/koord/tui/internal/style"
)

// Model is the root model, the only one. It lives in the program's event loop and is not safe for concurrent use.
type Model struct {
	ctx      context.Context //nolint:containedctx // the program's life, from which every question derives its own
	source   source.Source
	check    func(context.Context) (*Checks, error)
	clock    clock.PassiveClock
	interval time.Duration
	after    func(time.Duration, tea.Msg) tea.Cmd
	readOnly bool
	version  string
	// program is the name that commands in hints begin with.
	program string
	// mouse is true while the terminal reports the mouse; text can then not be selected in the usual way.
	mouse bool

	st            *style.Set
	width, height int

	generation uint64
	// forced is true while ctrl-r asks for what is not due.
	forced     bool
	cluster    feed[source.Cluster]
	nodes      nodeList
	podLists   []*podList
	selection  selection
	spaceNames feed[namespaceNames]
	podsOf     feed[podNames]
	// migrationNames are the PodMigrationJobs that were listed last.
	migrationNames func() []string
	// quotaNames are the ElasticQuotas that were listed last, as NAMESPACE/NAME.
	quotaNames func() []string
	// gangNames are the gangs that were listed last, as NAMESPACE/NAME.
	gangNames func() []string
	// workloadNames are the workloads that were listed last, as NAMESPACE/KIND/NAME.
	workloadNames func() []string
	// workersNames are the ElasticWorkers that were listed last, as NAMESPACE/NAME.
	workersNames func() []string
	// deviceNames are the nodes whose devices were listed last.
	deviceNames func() []string
	// reservationNames are the Reservations that were listed last.
	reservationNames func() []string

	// settings are the configuration that was read last.
	settings *settings

	namespace string
	// led is true once the user was led from the nodes, which he may not list, to the pods.
	led     bool
	screens []*screen
	pages   []page
	summary summary
	history history.History
	prompt  prompt
	flash   flash
	clicked clicked
	start   string
}

// flash is a short message that goes away by itself.
type flash struct {
	text   string
	bad    bool
	number uint64
}

const flashTime = 5 * time.Second

func newModel(ctx context.Context, o Options, a style.Appearance) (*Model, error) {
	if o.Source == nil {
		return nil, errors.New("start the terminal user interface: no source is given")
	}
	m := &Model{
		ctx: ctx, source: o.Source, check: o.Check, clock: o.Clock, interval: o.RefreshInterval, readOnly: o.ReadOnly, version: o.Version,
		program: o.Program, mouse: o.Mouse, namespace: o.Namespace, st: style.New(a),
		after: func(d time.Duration, msg tea.Msg) tea.Cmd { return after(ctx, d, msg) },
		start: strings.TrimPrefix(strings.TrimSpace(o.StartView), ":"),
	}
	if m.clock == nil {
		m.clock = clock.RealClock{}
	}
	if m.interval == 0 {
		m.interval = DefaultRefreshInterval
	}
	m.interval = max(m.interval, minRefreshInterval)
	m.declare()
	return m, nil
}

// Init asks the first questions.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{tea.RequestBackgroundColor}
	if m.start != "" {
		cmds = append(cmds, m.execute(m.start))
	}
	return tea.Batch(append(cmds, m.poll(), m.after(m.interval, refreshMsg{}))...)
}

// after is a command that waits for its message to become due, and no longer than the program runs.
func after(ctx context.Context, d time.Duration, msg tea.Msg) tea.Cmd {
	return func() tea.Msg {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
			return msg
		}
	}
}

// say shows a message for a few seconds.
func (m *Model) say(text string, bad bool) tea.Cmd {
	m.flash = flash{text: text, bad: bad, number: m.flash.number + 1}
	return m.after(flashTime, flashMsg{number: m.flash.number})
}
