package engines

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"k8s.io/klog/v2"

	"koordinator.sh/koord/decision/core/enginerun"
)

// mostDetails is how many applications are asked about in one read, which takes three requests each. Others follow in the next.
const mostDetails = 20

// history reads applications from a history server of Spark.
type history struct {
	server *web
	// handed are the IDs of the last answer that were handed over.
	handed map[string]bool
}

func readSpark(addresses []string) func(ctx context.Context, since time.Time) ([]enginerun.Event, error) {
	return (&history{server: newWeb(addresses)}).read
}

func (h *history) read(ctx context.Context, since time.Time) ([]enginerun.Event, error) {
	path := "/api/v1/applications?status=completed"
	if !since.IsZero() {
		path += "&minEndDate=" + url.QueryEscape(since.UTC().Format("2006-01-02T15:04:05.000")+"GMT")
	}
	var attempts []enginerun.SparkAttempt
	err := h.server.get(ctx, path, func(answer []byte) (err error) {
		attempts, err = enginerun.ParseSpark(answer)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(attempts, func(a, b enginerun.SparkAttempt) int { return a.Ended.Compare(b.Ended) })
	known, events := map[string]bool{}, []enginerun.Event{}
	for i := range attempts {
		id := attempts[i].ID()
		if h.handed[id] || attempts[i].Ended.Before(since) {
			known[id] = true
			continue
		}
		if err != nil || len(events) == mostDetails {
			continue
		}
		var event enginerun.Event
		if event, err = h.event(ctx, &attempts[i]); err == nil {
			known[id] = true
			events = append(events, event)
		}
	}
	h.handed = known
	return events, err
}

// event of an attempt. What the server refuses to answer is not known, as of an attempt whose log is damaged.
func (h *history) event(ctx context.Context, attempt *enginerun.SparkAttempt) (enginerun.Event, error) {
	path := "/api/v1/applications/" + url.PathEscape(attempt.Application)
	if attempt.Attempt != "" {
		path += "/" + url.PathEscape(attempt.Attempt)
	}
	var details enginerun.SparkDetails
	for name, into := range map[string]*[]byte{"environment": &details.Environment, "allexecutors": &details.Executors, "stages": &details.Stages} {
		err := h.server.get(ctx, path+"/"+name, func(answer []byte) error {
			*into = answer
			return nil
		})
		if _, refused := errors.AsType[*statusError](err); err != nil && !refused {
			return enginerun.Event{}, err
		}
	}
	event, err := attempt.Event(details)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("Failed to read what a history server says of an application", "id", event.ID, "err", err)
	}
	return event, nil
}
