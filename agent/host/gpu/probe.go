package gpu

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

const (
	// patience is how long an answer is waited for. NVML takes seconds when it starts and nothing keeps the driver loaded.
	patience = 20 * time.Second
	// longestAnswer in bytes.
	longestAnswer = 4 << 20
)

// Answer is one line of the process that has the library.
type Answer struct {
	Reading Reading `json:"reading"`
	// Problem says what of it is missing, and why.
	Problem string `json:"problem,omitempty"`
}

// Serve answers each line that is read with a reading, as JSON in one line, until there are none.
func Serve(library Library, questions io.Reader, answers io.Writer) error {
	var known []Device
	lines := bufio.NewScanner(questions)
	for lines.Scan() {
		reading, err := Read(library, known)
		answer := Answer{Reading: reading}
		if err != nil {
			answer.Problem = err.Error()
		}
		if reading.Devices != nil {
			known = reading.Devices
		}
		if err := json.NewEncoder(answers).Encode(answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

// Probe asks a process that serves. The process is started when it is asked first, and again when it ended. All methods may be
// called at the same time.
type Probe struct {
	// Program and its arguments.
	Program   string
	Arguments []string

	mu      sync.Mutex
	process *exec.Cmd
	input   io.WriteCloser
	lines   chan []byte
}

// Ask returns a reading; an error may come with a part of one. A process that does not answer in time is killed.
func (p *Probe) Ask(ctx context.Context) (Reading, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process == nil {
		if err := p.start(); err != nil {
			return Reading{}, fmt.Errorf("start the GPU reader: %w", err)
		}
	}
	if _, err := p.input.Write([]byte("\n")); err != nil {
		p.stop()
		return Reading{}, fmt.Errorf("ask the GPU reader: %w", err)
	}
	select {
	case line, running := <-p.lines:
		if !running {
			p.stop()
			return Reading{}, errors.New("the GPU reader has ended")
		}
		var answer Answer
		if err := json.Unmarshal(line, &answer); err != nil {
			p.stop()
			return Reading{}, fmt.Errorf("decode the answer of the GPU reader: %w", err)
		}
		if answer.Problem != "" {
			return answer.Reading, errors.New(answer.Problem)
		}
		return answer.Reading, nil
	case <-time.After(patience):
		p.stop()
		return Reading{}, fmt.Errorf("the GPU reader did not respond within %s", patience)
	case <-ctx.Done():
		p.stop()
		return Reading{}, context.Cause(ctx)
	}
}

func (p *Probe) start() error {
	process := exec.Command(p.Program, p.Arguments...)
	input, err := process.StdinPipe()
	if err != nil {
		return err
	}
	output, err := process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := process.Start(); err != nil {
		return err
	}
	lines := make(chan []byte, 1)
	go func() { // it ends with the process
		defer close(lines)
		scanner := bufio.NewScanner(output)
		scanner.Buffer(make([]byte, 0, 64<<10), longestAnswer)
		for scanner.Scan() {
			select {
			case lines <- append([]byte(nil), scanner.Bytes()...):
			default: // there is no request
			}
		}
	}()
	p.process, p.input, p.lines = process, input, lines
	return nil
}

// Close ends the process.
func (p *Probe) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stop()
}

func (p *Probe) stop() {
	if p.process == nil {
		return
	}
	_ = p.input.Close()          // it may have ended
	_ = p.process.Process.Kill() // as above
	_ = p.process.Wait()         // it was killed
	p.process = nil
}
