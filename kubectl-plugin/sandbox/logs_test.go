package sandbox

import (
	"bytes"
	"context"
	"io"
	"os"
	"sync"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"koordinator.sh/koord/sandbox/process/processtest"
)

// lockedBuffer is written to by a command and read by its test.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestLogsAreFollowed(t *testing.T) {
	m := newMachine(t)
	dir := m.add(t, demo)
	log, err := os.OpenFile(dir.Log("etcd"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	processtest.Must(t, err)
	defer func() { processtest.Must(t, log.Close()) }()
	write := func(text string) {
		_, err := io.WriteString(log, text)
		processtest.Must(t, err)
	}
	write("a first line, longer than those to come\n")

	var out lockedBuffer
	root := newRoot(genericiooptions.IOStreams{Out: &out, ErrOut: io.Discard})
	root.SetArgs([]string{"sandbox", "logs", "etcd", "--name", "demo", "-f"})
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- root.ExecuteContext(ctx) }()

	want := "a first line, longer than those to come\n"
	processtest.Await(t, "what is there", func() bool { return out.String() == want })
	write("second\n")
	want += "second\n"
	processtest.Await(t, "what comes after it", func() bool { return out.String() == want })
	processtest.Must(t, log.Truncate(0)) // as the supervisor does with a log that has grown too large
	write("third\n")
	want += "third\n"
	processtest.Await(t, "what comes after the log was cut", func() bool { return out.String() == want })
	cancel()
	if err := <-result; err != nil {
		t.Errorf("logs -f that is interrupted = %v; want no error", err)
	}
}
