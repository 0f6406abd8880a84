package kubectlplugin

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/live"
)

// Options of the root command: everything that comes from outside the process.
type Options struct {
	// Name the program was called by, as help shows it: koordctl or kubectl koord.
	Name string
	// Version of the program.
	Version Version
	// Streams to read from and write to.
	Streams genericiooptions.IOStreams
	// Environ is the environment, as os.Environ returns it.
	Environ []string
	// Terminal says what the streams are connected to.
	Terminal Terminal
	// Clock that ages are counted by.
	Clock clock.Clock
	// Connect returns where answers come from; it must not touch the network before the first question.
	Connect func(clientcmd.ClientConfig, Connection) (source.Source, error)
}

// Getenv reads a variable of the environment; a missing one is empty, of several the last one counts.
func (o *Options) Getenv(name string) string {
	for _, entry := range slices.Backward(o.Environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// Connection is how the user wants a cluster to be talked to.
type Connection struct {
	// Warn receives warnings of the API server, one line each.
	Warn func(string)
	// UserAgent names the program to the API server.
	UserAgent string
	// Context, Cluster and User chosen by flags; empty for those of the kubeconfig.
	Context, Cluster, User string
}

// Terminal says what the standard streams are connected to.
type Terminal struct {
	// Error is true when standard error is a terminal.
	Error bool
	// Output is true when standard output is a terminal.
	Output bool
	// Input is true when standard input is a terminal.
	Input bool
	// Width in columns; 0 when unknown.
	Width int
}

// session is one run of the program: the options and the flags that all commands share.
type session struct {
	Options
	flags *genericclioptions.ConfigFlags
	color string
	ascii bool
	// verbosity is the log level of libraries.
	verbosity int
	// fullScreen is true while the terminal shows a screen, in which nothing else may be written.
	fullScreen bool

	connectOnce sync.Once
	source      source.Source
	connectErr  error
}

// connect returns where answers come from. It is made on first use, so that a command that asks nothing loads no kubeconfig.
func (s *session) connect() (source.Source, error) {
	s.connectOnce.Do(func() {
		s.source, s.connectErr = s.Connect(s.flags.ToRawKubeConfigLoader(), s.connection())
	})
	return s.source, s.connectErr
}

// namespace that applies: -n, else the context's.
func (s *session) namespace() (string, error) {
	namespace, _, err := s.flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", live.ConfigFailure(err)
	}
	return namespace, nil
}

// style of standard output.
func (s *session) style() printer.Style {
	return Style(s.color, s.ascii, s.Getenv, s.Terminal)
}

// printerOptions for standard output. What is piped is never cut.
func (s *session) printerOptions() printer.Options {
	o := printer.Options{Style: s.style(), Language: s.language(), Program: s.Name, Now: s.Clock.Now()}
	if s.Terminal.Output {
		o.Width = s.Terminal.Width
	}
	return o
}

// errorStyle is the style of standard error.
func (s *session) errorStyle() printer.Style {
	terminal := s.Terminal
	terminal.Output = terminal.Error
	return Style(s.color, s.ascii, s.Getenv, terminal)
}

// collectLess has garbage collected less often until the function that it returns is called, unless GOGC says how often: most of
// what is read of a large cluster is garbage at once. That costs a fifth of the memory and saves a tenth of the time.
func (s *session) collectLess() (restore func()) { return s.collectAt(200) }

// collectAt sets GOGC until the function that it returns is called, unless the environment has one.
func (s *session) collectAt(percent int) (restore func()) {
	if s.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(percent)
	return func() { debug.SetGCPercent(before) }
}

// usage makes an error of a wrong flag or argument.
func usage(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}
