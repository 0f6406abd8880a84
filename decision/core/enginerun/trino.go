package enginerun

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"koordinator.sh/koord/decision/core/jobinsight"
)

// trinoQuery is a query, as a coordinator of Trino or Presto lists it.
type trinoQuery struct {
	ID      string `json:"queryId"`
	Session struct {
		User   string `json:"user"`
		Source string `json:"source"`
	} `json:"session"`
	// Group is the path of the resource group.
	Group []string `json:"resourceGroupId"`
	State string   `json:"state"`
	Text  string   `json:"query"`
	Stats struct {
		Created time.Time `json:"createTime"`
		Ended   time.Time `json:"endTime"`
		// Queued and CPU are durations such as 1.20s.
		Queued string `json:"queuedTime"`
		CPU    string `json:"totalCpuTime"`
		// Total and User are the peaks of the memory of the query on all workers, such as 1.2GB. Total includes User, and may be absent.
		Total string `json:"peakTotalMemoryReservation"`
		User  string `json:"peakUserMemoryReservation"`
	} `json:"queryStats"`
	ErrorType string `json:"errorType"`
	ErrorCode struct {
		Name string `json:"name"`
	} `json:"errorCode"`
}

// ParseTrino reads the answer of a coordinator to /v1/query: the queries in it that have ended.
func ParseTrino(answer []byte) ([]Event, error) {
	var read []trinoQuery
	if err := json.Unmarshal(answer, &read); err != nil {
		return nil, fmt.Errorf("read the queries: %w", err)
	}
	events := make([]Event, 0, len(read))
	for i := range read {
		if query := &read[i]; query.State == "FINISHED" || query.State == "FAILED" {
			events = append(events, query.event())
		}
	}
	return events, nil
}

func (q *trinoQuery) event() Event {
	e := Event{
		Source: jobinsight.Trino, ID: q.ID, Outcome: q.outcome(), Ended: q.Stats.Ended, CPUSeconds: duration(q.Stats.CPU).Seconds(),
		Memory: max(dataSize(q.Stats.Total), dataSize(q.Stats.User)),
		Kind: jobinsight.Kind{User: q.Session.User, Queue: strings.Join(q.Group, "."), Application: cmp.Or(q.Session.Source, "trino"),
			Shape: "trino/" + queryShape(q.Text)},
	}
	if !q.Stats.Created.IsZero() {
		e.Started = q.Stats.Created.Add(duration(q.Stats.Queued))
	}
	return e
}

func (q *trinoQuery) outcome() jobinsight.Outcome {
	switch code := q.ErrorCode.Name; {
	case q.State == "FINISHED":
		return jobinsight.Completed
	case q.ErrorType == "INSUFFICIENT_RESOURCES" && strings.Contains(code, "MEMORY"):
		return jobinsight.OOMKilled
	case code == "USER_CANCELED" || strings.HasPrefix(code, "ADMINISTRATIVELY_") || code == "EXCEEDED_TIME_LIMIT":
		return jobinsight.Killed
	}
	return jobinsight.Failed
}

// units of durations and of sizes.
var (
	durationUnits = map[string]float64{"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600, "d": 86400}
	sizeUnits     = map[string]float64{"B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40, "PB": 1 << 50}
)

// mostSeconds bounds durations: a hundred years.
const mostSeconds = 100 * 366 * 86400

// duration is none for a text that is not one.
func duration(text string) time.Duration {
	return time.Duration(min(amount(text, durationUnits), mostSeconds) * float64(time.Second))
}

// dataSize is in bytes, and 0 for a text that is none.
func dataSize(text string) float64 { return amount(text, sizeUnits) }

// amount of a number with its unit; 0 for a text that is none.
func amount(text string, units map[string]float64) float64 {
	split := strings.LastIndexAny(text, "0123456789") + 1
	value, err := strconv.ParseFloat(text[:split], 64)
	if err != nil || !(value > 0) {
		return 0
	}
	return value * units[text[split:]]
}
