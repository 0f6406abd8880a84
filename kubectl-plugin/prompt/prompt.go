// Package prompt asks the person at the terminal whether to go on.
package prompt

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// longestAnswer bounds what is read for a yes or no, in bytes.
const longestAnswer = 1 << 10

// Confirm asks a question and returns whether the answer is yes; anything else is no. An interruption is context.Canceled,
// also while nothing is typed.
func Confirm(ctx context.Context, in io.Reader, out io.Writer, question string) (bool, error) {
	fmt.Fprintf(out, "%s [y/N] ", question)
	type line struct {
		text string
		err  error
	}
	// A read from a terminal cannot be ended, so that after an interruption this goroutine waits until the program ends.
	answered := make(chan line, 1)
	go func() {
		text, err := bufio.NewReader(io.LimitReader(in, longestAnswer)).ReadString('\n')
		answered <- line{text, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(out)
		return false, fmt.Errorf("ask whether to go on: %w", ctx.Err())
	case answer := <-answered:
		if answer.err != nil && !errors.Is(answer.err, io.EOF) {
			return false, fmt.Errorf("read the answer: %w", answer.err)
		}
		text := strings.ToLower(strings.TrimSpace(answer.text))
		return (text == "y" || text == "yes") && ctx.Err() == nil, ctx.Err()
	}
}
