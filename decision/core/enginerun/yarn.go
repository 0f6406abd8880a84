package enginerun

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"koordinator.sh/koord/decision/core/jobinsight"
)

// yarnApplication is an application, as the REST API of a ResourceManager describes it. Times are in milliseconds.
type yarnApplication struct {
	ID          string `json:"id"`
	User        string `json:"user"`
	Name        string `json:"name"`
	Queue       string `json:"queue"`
	State       string `json:"state"`
	FinalStatus string `json:"finalStatus"`
	Type        string `json:"applicationType"`
	// Launched is when its master was; ResourceManagers before Hadoop 3.3 only say when it was Started, which is submitted.
	Launched int64 `json:"launchTime"`
	Started  int64 `json:"startedTime"`
	Finished int64 `json:"finishedTime"`
	// MiBSeconds and VCoreSeconds are what its containers held.
	MiBSeconds   float64 `json:"memorySeconds"`
	VCoreSeconds float64 `json:"vcoreSeconds"`
}

// ParseYARN reads the answer of a ResourceManager to /ws/v1/cluster/apps: the applications in it that have ended.
func ParseYARN(answer []byte) ([]Event, error) {
	var read struct {
		Apps *struct {
			App []yarnApplication `json:"app"`
		} `json:"apps"`
	}
	if err := json.Unmarshal(answer, &read); err != nil {
		return nil, fmt.Errorf("read the applications: %w", err)
	}
	if read.Apps == nil { // also where there are none, it is an empty object or null
		if !hasField(answer, "apps") {
			return nil, fmt.Errorf("read the applications: the answer has no field apps")
		}
		return nil, nil
	}
	events := make([]Event, 0, len(read.Apps.App))
	for i := range read.Apps.App {
		if application := &read.Apps.App[i]; application.Finished > 0 {
			events = append(events, application.event())
		}
	}
	return events, nil
}

// hasField says whether an object has a field, even if that is null.
func hasField(object []byte, name string) bool {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(object, &fields) // what is no object has no fields
	_, has := fields[name]
	return has
}

const bytesPerMiB = 1 << 20

func (a *yarnApplication) event() Event {
	e := Event{
		Source: jobinsight.YARN, ID: a.ID, Outcome: a.outcome(), Ended: millis(a.Finished),
		Kind:       jobinsight.Kind{User: a.User, Queue: a.Queue, Application: a.Name, Shape: "yarn/" + cmp.Or(a.Type, "YARN")},
		CPUSeconds: a.VCoreSeconds,
	}
	if a.Type == "SPARK" {
		e.Better = jobinsight.SetOf(jobinsight.Spark)
	}
	if started := cmp.Or(max(a.Launched, 0), a.Started); started > 0 {
		e.Started = millis(started)
	}
	if seconds := e.Ended.Sub(e.Started).Seconds(); seconds > 0 && !e.Started.IsZero() {
		e.Memory = a.MiBSeconds * bytesPerMiB / seconds
	}
	return e
}

// outcome is empty for an application that ended without saying how.
func (a *yarnApplication) outcome() jobinsight.Outcome {
	switch {
	case a.State == "KILLED" || a.FinalStatus == "KILLED":
		return jobinsight.Killed
	case a.State == "FAILED" || a.FinalStatus == "FAILED":
		return jobinsight.Failed
	case a.FinalStatus == "SUCCEEDED" || a.FinalStatus == "ENDED":
		return jobinsight.Completed
	}
	return ""
}

// millis is a time within the years that can be kept.
func millis(of int64) time.Time {
	return time.UnixMilli(min(of, math.MaxInt64/int64(time.Millisecond)))
}
