package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/clock"
)

// watch is the -w flag.
type watch struct {
	on       bool
	interval duration
}

func (w *watch) addFlags(cmd *cobra.Command) {
	w.interval = duration(5 * time.Second)
	cmd.Flags().BoolVarP(&w.on, "watch", "w", false, "After listing, keep asking and print what changed")
	cmd.Flags().Var(&w.interval, "interval", "Interval of --watch, at least 1s")
}

// duration is a flag value of at least a second.
type duration time.Duration

// String formats the duration.
func (d *duration) String() string { return time.Duration(*d).String() }

// Type names the flag's type.
func (d *duration) Type() string { return "duration" }

// Set parses the duration.
func (d *duration) Set(text string) error {
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return err
	}
	if parsed < time.Second {
		return fmt.Errorf("must be at least 1s")
	}
	*d = duration(parsed)
	return nil
}

// question is something that can be asked again and again.
type question[L any] struct {
	ask func(context.Context) (L, error)
	// changed keeps what is new or different, and says whether there is anything.
	changed func(before, now L) (L, bool)
	// show prints an answer; only the first one has headers.
	show func(answer L, first bool) error
}

// repeat asks, shows the answer and then, every interval, what changed since. An interruption ends it without error; a
// failed question ends it with that failure.
func repeat[L any](ctx context.Context, ticks clock.Clock, interval time.Duration, q question[L]) error {
	var last L
	for first := true; ; first = false {
		answer, err := q.ask(ctx)
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil
		}
		if err != nil {
			return err
		}
		shown, any := answer, true
		if !first {
			shown, any = q.changed(last, answer)
		}
		last = answer
		if any {
			if err := q.show(shown, first); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.After(interval):
		}
	}
}

func different[T any](before, now []T, key func(*T) string) []T {
	known := make(map[string]*T, len(before))
	for i := range before {
		known[key(&before[i])] = &before[i]
	}
	var out []T
	for i := range now {
		if old, ok := known[key(&now[i])]; !ok || !equality.Semantic.DeepEqual(old, &now[i]) {
			out = append(out, now[i])
		}
	}
	return out
}
