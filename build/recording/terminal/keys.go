package terminal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Pace of typing, in the recording. Words come one after the other, as they do from people who know what they want.
const (
	letterPace = 15 * time.Millisecond
	wordPace   = 130 * time.Millisecond
)

const (
	// longestAwait bounds the wait for anything that is printed.
	longestAwait = time.Minute
	// settled is how long nothing is printed after a screen that is complete.
	settled = 200 * time.Millisecond
)

// Type types keys, each after the one before was answered. A sequence that begins with an escape is one key.
func (s *Session) Type(ctx context.Context, keys string) error {
	pressed := strings.Split(keys, "")
	if strings.HasPrefix(keys, "\x1b") {
		pressed = []string{keys}
	}
	for _, key := range pressed {
		s.mutex.Lock()
		before := s.printed
		s.mutex.Unlock()
		if _, err := s.file.WriteString(key); err != nil {
			return fmt.Errorf("type %q: %w", key, err)
		}
		if err := s.until(ctx, func() bool { return s.printed > before }); err != nil {
			return fmt.Errorf("type %q of %q: %w", key, keys, err)
		}
		switch key {
		case " ":
			s.Hold(wordPace)
		case "\r":
			s.Hold(0)
		default:
			s.Hold(letterPace)
		}
	}
	return nil
}

// Await waits until all texts are on the screen and nothing more is printed; with prompt, until the shell waits for a command besides.
func (s *Session) Await(ctx context.Context, texts []string, prompt bool) error {
	missing := ""
	err := s.until(ctx, func() bool {
		missing = s.missing(texts, prompt)
		return missing == "" && time.Since(s.printedAt) >= settled
	})
	if err != nil {
		return fmt.Errorf("await %q: %w; the screen shows:\n%s", missing, err, s.Screen())
	}
	return nil
}

// missing is the first text that the screen does not show.
func (s *Session) missing(texts []string, prompt bool) string {
	shown := s.screen.String()
	for _, text := range texts {
		if !strings.Contains(shown, text) {
			return text
		}
	}
	cursor := s.screen.CursorPosition()
	if lines := strings.Split(shown, "\n"); prompt && (cursor.Y >= len(lines) || cursor.X != len(Prompt) || strings.TrimSpace(lines[cursor.Y]) != strings.TrimSpace(Prompt)) {
		return Prompt
	}
	return ""
}

// Screen is the text that the terminal shows.
func (s *Session) Screen() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.screen.String()
}

// until waits until what was printed is enough.
func (s *Session) until(ctx context.Context, enough func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, longestAwait, fmt.Errorf("not within %s", longestAwait))
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	ended := false
	for {
		s.mutex.Lock()
		done := enough()
		s.mutex.Unlock()
		switch {
		case done:
			return nil
		case ended:
			return errors.New("the shell has ended")
		}
		select {
		case <-tick.C:
		case <-s.ended:
			ended = true // what it printed last counts
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
