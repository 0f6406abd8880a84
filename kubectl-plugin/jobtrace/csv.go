package jobtrace

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/decision/core/jobinsight"
)

// Columns of CSV, in any order; those behind the first two may be left out. Times are Unix seconds or as in RFC 3339, amounts are
// quantities, CPU is in cores, and a limit in seconds. The outcome is one of completed, oom-killed, failed and killed, and completed by default.
const (
	columnStarted         = "started"
	columnEnded           = "ended"
	columnUser            = "user"
	columnQueue           = "queue"
	columnApplication     = "application"
	columnShape           = "shape"
	columnSubmitted       = "submitted"
	columnRequestedMemory = "requested_memory"
	columnPeakMemory      = "peak_memory"
	columnRequestedCPU    = "requested_cpu"
	columnUsedCPU         = "used_cpu"
	columnTimeLimit       = "time_limit"
	columnOutcome         = "outcome"
)

// Columns are all of them.
func Columns() []string {
	return []string{
		columnStarted, columnEnded, columnUser, columnQueue, columnApplication, columnShape, columnSubmitted, columnRequestedMemory, columnPeakMemory,
		columnRequestedCPU, columnUsedCPU, columnTimeLimit, columnOutcome,
	}
}

// ReadCSV reads jobs with a header of Columns. Errors name the line and the column.
func ReadCSV(r io.Reader) ([]jobinsight.Job, error) {
	reader := csv.NewReader(r)
	reader.ReuseRecord, reader.TrimLeadingSpace = true, true
	header, err := reader.Read()
	if err != nil {
		return nil, fmt.Errorf("read its header: %w", err)
	}
	places, err := placesOf(header)
	if err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	var jobs []jobinsight.Job
	for {
		fields, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return jobs, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := reader.FieldPos(0)
		if len(jobs) == MaxJobs {
			return nil, fmt.Errorf("line %d: there are more than %d jobs", line, MaxJobs)
		}
		job, err := row{places, fields}.job()
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		jobs = append(jobs, job)
	}
}

// placesOf are the places of the columns.
func placesOf(header []string) (map[string]int, error) {
	places := map[string]int{}
	for i, name := range header {
		name = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(name, "\ufeff")))
		if !slices.Contains(Columns(), name) {
			return nil, fmt.Errorf("column %q is none of %s", name, strings.Join(Columns(), ", "))
		}
		if _, twice := places[name]; twice {
			return nil, fmt.Errorf("column %q is there twice", name)
		}
		places[name] = i
	}
	for _, name := range Columns()[:2] {
		if _, found := places[name]; !found {
			return nil, fmt.Errorf("column %q is missing", name)
		}
	}
	return places, nil
}

type row struct {
	places map[string]int
	fields []string
}

// text of a column; empty where there is none.
func (r row) text(column string) string {
	if at, found := r.places[column]; found {
		return strings.TrimSpace(r.fields[at])
	}
	return ""
}

func (r row) job() (jobinsight.Job, error) {
	job := jobinsight.Job{}
	job.Kind = jobinsight.Kind{User: r.text(columnUser), Queue: r.text(columnQueue), Application: r.text(columnApplication), Shape: r.text(columnShape)}
	for _, at := range []struct {
		column string
		into   *time.Time
	}{{columnStarted, &job.Started}, {columnEnded, &job.Ended}, {columnSubmitted, &job.Submitted}} {
		text := r.text(at.column)
		if text == "" && at.column == columnSubmitted {
			*at.into = job.Started
			continue
		}
		var err error
		if *at.into, err = moment(text); err != nil {
			return job, fmt.Errorf("column %q: %w", at.column, err)
		}
	}
	if job.Ended.Before(job.Started) {
		return job, fmt.Errorf("it ended at %s, before it started at %s", r.text(columnEnded), r.text(columnStarted))
	}
	amounts := map[string]float64{}
	for _, column := range []string{columnRequestedMemory, columnPeakMemory, columnRequestedCPU, columnUsedCPU, columnTimeLimit} {
		amount, err := quantity(r.text(column))
		if err != nil {
			return job, fmt.Errorf("column %q: %w", column, err)
		}
		amounts[column] = amount
	}
	job.Values = jobinsight.Observed(amounts[columnPeakMemory], amounts[columnUsedCPU], job.Ended.Sub(job.Started))
	job.Requested = jobinsight.Observed(amounts[columnRequestedMemory], amounts[columnRequestedCPU], 0)
	job.Requested[jobinsight.Duration] = amounts[columnTimeLimit]
	var err error
	job.Outcome, err = outcome(r.text(columnOutcome))
	return job, err
}

func outcome(text string) (jobinsight.Outcome, error) {
	of := jobinsight.Outcome(strings.ToLower(text))
	switch of {
	case "":
		return jobinsight.Completed, nil
	case jobinsight.Completed, jobinsight.OOMKilled, jobinsight.Failed, jobinsight.Killed:
		return of, nil
	}
	return "", fmt.Errorf("column %q: %q is none of %s, %s, %s and %s", columnOutcome, text, jobinsight.Completed, jobinsight.OOMKilled, jobinsight.Failed, jobinsight.Killed)
}

// latest is the last second of the year 9999.
const latest = 253402300799

func moment(text string) (time.Time, error) {
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil && seconds >= 0 && seconds <= latest {
		return time.Unix(seconds, 0).UTC(), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Unix() < 0 {
		return time.Time{}, fmt.Errorf("%q is neither Unix seconds nor a time as 2030-01-07T12:00:00Z", text)
	}
	return at, nil
}

// quantity is an amount, 0 for an empty text.
func quantity(text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	q, err := resource.ParseQuantity(text)
	if err != nil || q.Sign() < 0 {
		return 0, fmt.Errorf("%q is not an amount such as 4Gi, 1500m or 2.5", text)
	}
	return q.AsApproximateFloat64(), nil
}
