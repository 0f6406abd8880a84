// Package exposition reads the metrics of servers that are measured.
package exposition

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"k8s.io/client-go/rest"
)

// sample is one value of a metric.
type sample struct {
	metric string
	// Labels may be changed before values are added up.
	Labels map[string]string
	value  float64
}

// Samples are values of metrics.
type Samples []sample

// Parse reads the samples of some metrics from a text in Prometheus' format.
func Parse(text string, metrics ...string) (Samples, error) {
	var out Samples
	for line := range strings.SplitSeq(text, "\n") {
		end := strings.IndexAny(line, "{ ")
		if end < 0 || !slices.Contains(metrics, line[:end]) {
			continue
		}
		s := sample{metric: line[:end], Labels: map[string]string{}}
		tail := line[end:]
		var err error
		if strings.HasPrefix(tail, "{") {
			if tail, err = parseLabels(tail[1:], s.Labels); err != nil {
				return nil, fmt.Errorf("read metric %s: %w", s.metric, err)
			}
		}
		value, _, _ := strings.Cut(strings.TrimSpace(tail), " ") // a time stamp may follow
		if s.value, err = strconv.ParseFloat(value, 64); err != nil {
			return nil, fmt.Errorf("read metric %s: %w", s.metric, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// parseLabels reads labels up to the closing brace, and returns what follows it.
func parseLabels(text string, into map[string]string) (tail string, err error) {
	for {
		text = strings.TrimLeft(text, ", ")
		if after, closed := strings.CutPrefix(text, "}"); closed {
			return after, nil
		}
		name, after, found := strings.Cut(text, "=")
		if !found {
			return "", fmt.Errorf("no closing brace in %q", text)
		}
		quoted, err := strconv.QuotedPrefix(after)
		if err != nil {
			return "", fmt.Errorf("label %s: %w", name, err)
		}
		if into[name], err = strconv.Unquote(quoted); err != nil {
			return "", fmt.Errorf("label %s: %w", name, err)
		}
		text = after[len(quoted):]
	}
}

// Sum adds up the samples of a metric that have all of the given labels, which come in pairs.
func (s Samples) Sum(metric string, labels ...string) float64 {
	total := 0.0
	for _, one := range s {
		if one.metric == metric && one.has(labels) {
			total += one.value
		}
	}
	return total
}

func (s sample) has(labels []string) bool {
	for i := 0; i+1 < len(labels); i += 2 {
		if s.Labels[labels[i]] != labels[i+1] {
			return false
		}
	}
	return true
}

// Scrape reads some metrics of a server that is reached with a configuration.
func Scrape(ctx context.Context, config *rest.Config, metrics ...string) (Samples, error) {
	text, err := Fetch(ctx, config, "/metrics")
	if err != nil {
		return nil, err
	}
	return Parse(string(text), metrics...)
}

// Fetch reads a path of a server.
func Fetch(ctx context.Context, config *rest.Config, path string) ([]byte, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // read to its end
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read %s of %s: %s", path, config.Host, response.Status)
	}
	return body, nil
}
