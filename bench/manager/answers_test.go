package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnswersBecomeAShare(t *testing.T) {
	asked := answers{count: 500, prompt: 480, seconds: 1}.minus(answers{count: 100, prompt: 100, seconds: 0.2})
	got := asked.figures("webhook")
	want := []figure{
		{Name: "webhook, mean", Value: 2, Unit: "ms", Note: "measured by the API server"},
		{Name: "webhook, answered within 5 ms", Value: 95, Unit: "%", Must: ">= 99 %", Missed: true, Note: "of 400; 99 % is a p99 of 5 ms"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
	if got := (answers{}).figures("unasked"); got != nil {
		t.Errorf("a webhook that was not asked has figures %v", got)
	}
}
