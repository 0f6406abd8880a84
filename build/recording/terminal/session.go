// Package terminal records a shell in a pseudo-terminal while keys are typed. What is printed is awaited on the screen, as a person would;
// the pace of the recording is made up, so that it neither waits for a slow machine nor rushes on a fast one.
package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"koordinator.sh/koord/build/recording/cast"
)

// Prompt is what the shell prints when it waits for a command.
const Prompt = "$ "

// Session is a shell whose output is recorded.
type Session struct {
	cmd  *exec.Cmd
	file *os.File
	// ended is closed when nothing more is printed.
	ended chan struct{}
	// replies ends with the answers of the terminal to what programs ask of it.
	replies sync.WaitGroup

	mutex    sync.Mutex
	screen   *vt.Emulator
	recorder recorder
	// printed is how much was printed, and printedAt when the last of it was.
	printed   int
	printedAt time.Time
}

// Open starts a shell in a directory, with only the environment that is given, so that nothing of this machine gets into the recording.
func Open(ctx context.Context, title string, columns, rows int, directory string, environ []string) (*Session, error) {
	cmd := exec.CommandContext(ctx, "bash", "--norc", "--noprofile", "--noediting", "-i")
	cmd.Dir, cmd.Env = directory, append(environ, "PS1="+Prompt, "HISTFILE=", "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8")
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns)})
	if err == nil {
		file, err = interruptible(file)
	}
	if err != nil {
		return nil, fmt.Errorf("start a shell in a pseudo-terminal: %w", err)
	}
	s := &Session{
		cmd: cmd, file: file, ended: make(chan struct{}), screen: vt.NewEmulator(columns, rows),
		recorder: recorder{recording: cast.Recording{Title: title, Columns: columns, Rows: rows}, began: time.Now()},
	}
	s.replies.Go(func() { _, _ = io.Copy(file, s.screen) }) // a shell that ended reads no answer
	go s.read()
	return s, nil
}

// interruptible returns the same file for reads that end when it is closed. A read of the one that comes from pty ends when the last process
// has left the terminal, which one that ignores SIGHUP does not do.
func interruptible(file *os.File) (*os.File, error) {
	defer file.Close()
	descriptor, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(descriptor, true); err != nil {
		return nil, errors.Join(err, unix.Close(descriptor))
	}
	return os.NewFile(uintptr(descriptor), file.Name()), nil
}

// read shows and records what is printed until the shell ends.
func (s *Session) read() {
	defer close(s.ended)
	buffer := make([]byte, 64<<10)
	var partial []byte
	for {
		n, err := s.file.Read(buffer)
		whole, rest := wholeCharacters(append(partial, buffer[:n]...))
		partial = rest
		if len(whole) > 0 {
			s.print(whole)
		}
		if err != nil {
			return
		}
	}
}

func (s *Session) print(output []byte) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	_, _ = s.screen.Write(output) // an open emulator never fails
	s.recorder.add(string(output), time.Now())
	s.printed, s.printedAt = s.printed+len(output), time.Now()
}

// Hold lets what is shown stand for some time of the recording.
func (s *Session) Hold(d time.Duration) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.recorder.hold(d, time.Now())
}

// Close ends the shell and what runs in it, and returns what was recorded.
func (s *Session) Close() (cast.Recording, error) {
	s.mutex.Lock()
	recording := s.recorder.recording
	s.recorder = recorder{}
	s.mutex.Unlock()
	err := s.cmd.Process.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	_ = s.cmd.Wait() // it was killed
	// The end of its terminal ends what ran in the shell.
	err = errors.Join(err, s.file.Close())
	<-s.ended
	if input, ok := s.screen.InputPipe().(io.Closer); ok {
		err = errors.Join(err, input.Close())
	}
	s.replies.Wait()
	return recording, err
}
