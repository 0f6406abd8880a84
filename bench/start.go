package main

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"time"

	"koordinator.sh/koord/test/sandboxtest"
)

// starts is how often each program is started, taking turns.
const starts = 10

// start measures how long `koordctl version` takes beside `kubectl version --client`, and the size of the program.
func start(ctx context.Context, s *sandboxtest.Sandbox, _ int) ([]figure, error) {
	koordctl := s.Program("koordctl")
	info, err := os.Stat(koordctl)
	if err != nil {
		return nil, err
	}
	figures := []figure{{name: "koordctl, binary size", value: float64(info.Size()) / 1e6, unit: "MB", limit: 70}}
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		figures = append(figures, figure{name: "koordctl version / kubectl version --client", note: "kubectl is not installed"})
		return figures, nil
	}
	var ours, theirs []time.Duration
	for range starts + 1 {
		a, err := clock(ctx, s, koordctl, "version")
		if err != nil {
			return figures, err
		}
		b, err := clock(ctx, s, kubectl, "version", "--client")
		if err != nil {
			return figures, err
		}
		ours, theirs = append(ours, a), append(theirs, b)
	}
	// The first of each reads the program from disk.
	ours, theirs = ours[1:], theirs[1:]
	slices.Sort(ours)
	slices.Sort(theirs)
	a, b := ours[starts/2], theirs[starts/2]
	return append(figures,
		figure{name: "koordctl version, median of 10", value: float64(a.Microseconds()) / 1000, unit: "ms"},
		figure{name: "kubectl version --client, median of 10", value: float64(b.Microseconds()) / 1000, unit: "ms"},
		figure{name: "koordctl version / kubectl version --client", value: float64(a) / float64(b), unit: "x", limit: 1},
	), nil
}
