package main

import (
	"context"
	"fmt"
	"regexp"

	"koordinator.sh/koord/bench/controlplane"
	"koordinator.sh/koord/bench/exposition"
)

const admissionDuration = "apiserver_admission_webhook_admission_duration_seconds"

// promptly is the upper bound of the API server's first bucket of webhooks' times, and what admission must keep within.
const promptly = "0.005"

// answers is what the API server measured of a webhook: from its question to the answer.
type answers struct{ count, prompt, seconds float64 }

// number is that of a webhook which has siblings for other namespaces: mutate-pod-2.koordinator.sh.
var number = regexp.MustCompile(`-\d+\.`)

// answersOf reads what the API server has measured so far of webhooks, by name. Siblings count together.
func answersOf(ctx context.Context, plane *controlplane.ControlPlane, webhooks []string) (map[string]answers, error) {
	read, err := exposition.Scrape(ctx, plane.Config, admissionDuration+"_count", admissionDuration+"_bucket", admissionDuration+"_sum")
	if err != nil {
		return nil, err
	}
	for _, one := range read {
		one.Labels["name"] = number.ReplaceAllString(one.Labels["name"], ".")
	}
	out := map[string]answers{}
	for _, name := range webhooks {
		out[name] = answers{
			count:   read.Sum(admissionDuration+"_count", "name", name),
			prompt:  read.Sum(admissionDuration+"_bucket", "name", name, "le", promptly),
			seconds: read.Sum(admissionDuration+"_sum", "name", name),
		}
	}
	return out, nil
}

func (a answers) minus(b answers) answers {
	return answers{a.count - b.count, a.prompt - b.prompt, a.seconds - b.seconds}
}

func (a answers) plus(b answers) answers {
	return answers{a.count + b.count, a.prompt + b.prompt, a.seconds + b.seconds}
}

// figures of a webhook that was asked at least once.
func (a answers) figures(what string) []figure {
	if a.count == 0 {
		return nil
	}
	return []figure{
		measurement(what+", mean", a.seconds/a.count*1000, "ms", "measured by the API server"),
		atLeast(99, measurement(what+", answered within 5 ms", 100*a.prompt/a.count, "%", fmt.Sprintf("of %.0f; 99 %% is a p99 of 5 ms", a.count))),
	}
}
