package jobtrace

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"koordinator.sh/koord/decision/core/jobinsight"
)

// Fields of the Standard Workload Format, counted from 0. What is not known is -1.
const (
	swfSubmit          = 1
	swfWait            = 2
	swfRun             = 3
	swfProcessors      = 4
	swfCPUTime         = 5 // seconds, average over the processors
	swfMemory          = 6 // KB per processor
	swfAskedProcessors = 7
	swfAskedTime       = 8
	swfAskedMemory     = 9 // KB per processor
	swfStatus          = 10
	swfUser            = 11
	swfExecutable      = 13
	swfQueue           = 14
	swfFields          = 18
)

// States of a job. Jobs that did not run, and parts of jobs, which a summary line repeats, are left out.
const (
	swfFailed    = 0
	swfCompleted = 1
	swfCancelled = 5
)

// ReadSWF reads jobs in the Standard Workload Format, version 2. The application is the number of the executable, and the shape is how many
// processors were requested. Errors name the line.
func ReadSWF(r io.Reader) ([]jobinsight.Job, error) {
	text := newLines(r)
	var jobs []jobinsight.Job
	begin := int64(0)
	for {
		line, ok := text.next()
		if !ok {
			return jobs, text.failed(nil)
		}
		if comment, is := strings.CutPrefix(line, ";"); is {
			if start, found := strings.CutPrefix(strings.TrimSpace(comment), "UnixStartTime:"); found {
				if at, err := strconv.ParseInt(strings.TrimSpace(start), 10, 64); err == nil && at >= 0 && at < latest {
					begin = at
				}
			}
			continue
		}
		job, ran, err := swfJob(line, begin)
		if err == nil && len(jobs) == MaxJobs {
			err = fmt.Errorf("there are more than %d jobs", MaxJobs)
		}
		if err != nil {
			return nil, text.failed(err)
		}
		if ran {
			jobs = append(jobs, job)
		}
	}
}

// swfJob is the job of a line; false for one that did not run.
func swfJob(line string, begin int64) (jobinsight.Job, bool, error) {
	parts := strings.Fields(line)
	if len(parts) != swfFields {
		return jobinsight.Job{}, false, fmt.Errorf("%d fields, want %d", len(parts), swfFields)
	}
	var fields [swfFields]float64
	for i, part := range parts {
		value, err := strconv.ParseFloat(part, 64)
		if err != nil || math.IsNaN(value) || math.Abs(value) > latest {
			return jobinsight.Job{}, false, fmt.Errorf("field %d: %q is not a number", i+1, part)
		}
		fields[i] = value
	}
	job := jobinsight.Job{}
	switch fields[swfStatus] {
	case swfCompleted, -1:
		job.Outcome = jobinsight.Completed
	case swfFailed:
		job.Outcome = jobinsight.Failed
	case swfCancelled:
		job.Outcome = jobinsight.Killed
	default:
		return job, false, nil
	}
	if fields[swfRun] <= 0 {
		return job, false, nil
	}
	if fields[swfSubmit] < 0 {
		return job, false, errors.New("field 2: the time of its submission is not known")
	}
	job.Submitted = time.Unix(begin, 0).UTC().Add(secondsOf(fields[swfSubmit]))
	job.Started = job.Submitted.Add(secondsOf(fields[swfWait]))
	job.Ended = job.Started.Add(secondsOf(fields[swfRun]))
	job.Kind = swfKind(&fields)
	processors := max(fields[swfProcessors], 0)
	asked := max(fields[swfAskedProcessors], 0)
	if asked == 0 {
		asked = processors
	}
	job.Values = jobinsight.Observed(max(fields[swfMemory], 0)*1024*processors, max(fields[swfCPUTime], 0)*processors/fields[swfRun], job.Ended.Sub(job.Started))
	job.Requested = jobinsight.Observed(max(fields[swfAskedMemory], 0)*1024*asked, asked, 0)
	job.Requested[jobinsight.Duration] = max(fields[swfAskedTime], 0)
	return job, true, nil
}

func swfKind(fields *[swfFields]float64) jobinsight.Kind {
	name := func(prefix string, field int) string {
		if fields[field] < 0 {
			return ""
		}
		return prefix + strconv.FormatFloat(fields[field], 'f', -1, 64)
	}
	return jobinsight.Kind{
		User: name("user-", swfUser), Queue: name("queue-", swfQueue), Application: name("executable-", swfExecutable), Shape: name("processors-", swfAskedProcessors),
	}
}

// secondsOf is a duration of up to a hundred years; what is not known is none.
func secondsOf(seconds float64) time.Duration {
	const most = 100 * 365 * 24 * 3600
	return time.Duration(min(max(seconds, 0), most) * float64(time.Second))
}
