package kubectlplugin

import (
	"flag"
	"io"
	"strconv"
	"sync"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

// maxVerbosity is the level beyond which nothing more is logged.
const maxVerbosity = 10

// addVerbosity adds the flag of kubectl that shows what is asked of the API server.
func (s *session) addVerbosity(flags *pflag.FlagSet) {
	flags.IntVarP(&s.verbosity, "v", "v", 0, "Log level verbosity: 6 logs requests, 8 also their bodies")
}

// applyVerbosity has libraries log to standard error. At level 0 they log nothing.
func (s *session) applyVerbosity() error {
	if s.verbosity < 0 || s.verbosity > maxVerbosity {
		return usage("-v %d: must be 0 to %d", s.verbosity, maxVerbosity)
	}
	if s.verbosity == 0 {
		return nil
	}
	levels := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(levels)
	if err := levels.Set("v", strconv.Itoa(s.verbosity)); err != nil {
		return usage("-v %d: %w", s.verbosity, err)
	}
	klog.SetLogger(textlogger.NewLogger(textlogger.NewConfig(textlogger.Verbosity(s.verbosity), textlogger.Output(&turns{to: s.Streams.ErrOut}))))
	return nil
}

// turns writes one text after the other: requests that run side by side log at the same time.
type turns struct {
	mutex sync.Mutex
	to    io.Writer
}

func (t *turns) Write(text []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.to.Write(text)
}
