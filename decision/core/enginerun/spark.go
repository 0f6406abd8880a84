package enginerun

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"koordinator.sh/koord/decision/core/jobinsight"
)

// SparkAttempt is an attempt of an application that ended, as a history server lists it.
type SparkAttempt struct {
	// Application and Attempt are their IDs; the latter is empty where there is but one.
	Application, Attempt string
	Name, User           string
	Started, Ended       time.Time
}

// SparkDetails are the answers of a history server about an attempt. Those that are empty are not known.
type SparkDetails struct {
	Environment, Executors, Stages []byte
}

// ID of the attempt.
func (a *SparkAttempt) ID() string { return strings.TrimSuffix(a.Application+"/"+a.Attempt, "/") }

// ParseSpark reads the answer of a history server to /api/v1/applications: the attempts in it that have ended.
func ParseSpark(answer []byte) ([]SparkAttempt, error) {
	var read []struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Attempts []struct {
			ID        string `json:"attemptId"`
			User      string `json:"sparkUser"`
			Completed bool   `json:"completed"`
			Started   int64  `json:"startTimeEpoch"`
			Ended     int64  `json:"endTimeEpoch"`
		} `json:"attempts"`
	}
	if err := json.Unmarshal(answer, &read); err != nil {
		return nil, fmt.Errorf("read the applications: %w", err)
	}
	var out []SparkAttempt
	for _, application := range read {
		for _, attempt := range application.Attempts {
			if !attempt.Completed || attempt.Started <= 0 || attempt.Ended <= 0 {
				continue
			}
			out = append(out, SparkAttempt{Application: application.ID, Attempt: attempt.ID, Name: application.Name, User: attempt.User,
				Started: millis(attempt.Started), Ended: millis(attempt.Ended)})
		}
	}
	return out, nil
}

// Event of the attempt with its details. The error names the details that cannot be read; the event is without them.
func (a *SparkAttempt) Event(details SparkDetails) (Event, error) {
	e := Event{
		Source: jobinsight.Spark, ID: a.ID(), Outcome: jobinsight.Completed, Started: a.Started, Ended: a.Ended,
		Kind: jobinsight.Kind{User: a.User, Application: a.Name, Shape: "spark/application"},
	}
	master, err := sparkMaster(details.Environment)
	errs := []error{err}
	if strings.HasPrefix(master, "k8s://") {
		e.Better = jobinsight.SetOf(jobinsight.Pods)
	}
	e.Memory, err = sparkMemory(details.Executors)
	errs = append(errs, err)
	e.CPUSeconds, err = sparkCPU(details.Stages)
	return e, errors.Join(append(errs, err)...)
}

// sparkMaster is where the application ran.
func sparkMaster(answer []byte) (string, error) {
	if len(answer) == 0 {
		return "", nil
	}
	var read struct {
		Properties [][]string `json:"sparkProperties"`
	}
	if err := json.Unmarshal(answer, &read); err != nil {
		return "", fmt.Errorf("read the environment: %w", err)
	}
	for _, property := range read.Properties {
		if len(property) == 2 && property[0] == "spark.master" {
			return property[1], nil
		}
	}
	return "", nil
}

// sparkPeak is the peak of an executor, in bytes. Spark knows the memory of processes only where it was told to look.
type sparkPeak struct {
	Heap    float64 `json:"JVMHeapMemory"`
	OffHeap float64 `json:"JVMOffHeapMemory"`
	JVM     float64 `json:"ProcessTreeJVMRSSMemory"`
	Python  float64 `json:"ProcessTreePythonRSSMemory"`
	Other   float64 `json:"ProcessTreeOtherRSSMemory"`
}

// sparkMemory is the peak of the largest executor, and of the driver where there is none; 0 if it is not known.
func sparkMemory(answer []byte) (float64, error) {
	if len(answer) == 0 {
		return 0, nil
	}
	var read []struct {
		ID   string     `json:"id"`
		Peak *sparkPeak `json:"peakMemoryMetrics"`
	}
	if err := json.Unmarshal(answer, &read); err != nil {
		return 0, fmt.Errorf("read the executors: %w", err)
	}
	var driver, executors float64
	for _, one := range read {
		if one.Peak == nil {
			continue
		}
		into := &executors
		if one.ID == "driver" {
			into = &driver
		}
		*into = max(*into, one.Peak.JVM+one.Peak.Python+one.Peak.Other, one.Peak.Heap+one.Peak.OffHeap)
	}
	if executors > 0 {
		return executors, nil
	}
	return driver, nil
}

// sparkCPU is the CPU time of all tasks in seconds.
func sparkCPU(answer []byte) (float64, error) {
	if len(answer) == 0 {
		return 0, nil
	}
	var read []struct {
		Run         float64 `json:"executorCpuTime"`
		Deserialize float64 `json:"executorDeserializeCpuTime"`
	}
	if err := json.Unmarshal(answer, &read); err != nil {
		return 0, fmt.Errorf("read the stages: %w", err)
	}
	nanoseconds := 0.0
	for _, stage := range read {
		nanoseconds += stage.Run + stage.Deserialize
	}
	return nanoseconds / float64(time.Second), nil
}
