package check

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// fixed is a check whose outcome is known.
func fixed(id string, outcome Outcome, needs ...string) Check {
	return Check{ID: id, Category: Kubernetes, Title: id, Needs: needs, Judge: func(*Facts) Outcome { return outcome }}
}

func failed() Outcome {
	return judged("", []diagnosticsv1alpha1.Finding{report(finding.NotInstalled, "", "it is not there")})
}

func TestChecksAreSkippedWithoutWhatTheyNeed(t *testing.T) {
	warned := judged("", []diagnosticsv1alpha1.Finding{report(finding.ComponentSkew, "", "another version")})
	checks := []Check{
		fixed("after-passed", pass("fine"), "passed"),
		fixed("passed", pass("fine")), fixed("warned", warned), fixed("failed", failed()), fixed("unread", unknown("list pods: not permitted")),
		fixed("after-warned", pass("fine"), "warned"), fixed("after-failed", pass("fine"), "failed"), fixed("after-unread", pass("fine"), "unread"),
		fixed("after-skipped", pass("fine"), "passed", "after-failed"),
	}
	got := map[string]string{}
	for _, result := range Run(checks, Selection{Categories: Categories()}, &Facts{}) {
		got[result.ID] = string(result.State) + " " + result.Detail
	}
	want := map[string]string{
		"passed": "Pass fine", "warned": "Warning ", "failed": "Failed ", "unread": "Unknown list pods: not permitted",
		"after-passed": "Pass fine", "after-warned": "Pass fine", "after-failed": "Skipped failed failed", "after-unread": "Pass fine",
		"after-skipped": "Skipped after-failed was skipped",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// TestNeededChecksOfOtherCategoriesCount although they are not reported.
func TestNeededChecksOfOtherCategoriesCount(t *testing.T) {
	dependent := fixed("dependent", pass("fine"), "failed")
	dependent.Category = Config
	got := Run([]Check{fixed("failed", failed()), dependent}, Selection{Categories: []Category{Config}}, &Facts{})
	if len(got) != 1 || got[0].State != Skipped {
		t.Errorf("results %+v", got)
	}
}

func TestFindingsComeWithTheirFixAndDocumentation(t *testing.T) {
	got := Run([]Check{fixed("failed", failed())}, Selection{Categories: Categories()}, &Facts{})[0].Findings[0]
	if got.Name != "NotInstalled" || got.Help() != "Install with `koordctl install`." || got.Documentation != "docs/codes.md#koord0006" {
		t.Errorf("finding %+v", got)
	}
}

// hurried is a clock that passes whatever is waited for.
type hurried struct {
	*clocktesting.FakeClock
	waited []time.Duration
}

func (h *hurried) After(d time.Duration) <-chan time.Time {
	h.waited = append(h.waited, d)
	fired := h.FakeClock.After(d)
	h.Step(d)
	return fired
}

func TestWaitingRetriesWhatTimeMayHelp(t *testing.T) {
	broken := errors.New("the API server cannot be reached")
	retriable := &Report{Checks: []Result{{ID: "a", State: Failed, retry: true}}}
	hopeless := &Report{Checks: []Result{{ID: "a", State: Failed}, {ID: "b", State: Warning, retry: true}}}
	fine := &Report{Checks: []Result{{ID: "a", State: Pass, retry: true}}}
	tests := map[string]struct {
		wait       time.Duration
		reports    []*Report
		err        error
		want       *Report
		wantWaited []time.Duration
	}{
		"without waiting":             {reports: []*Report{retriable}, want: retriable},
		"it passes at once":           {wait: time.Minute, reports: []*Report{fine}, want: fine},
		"it passes later":             {wait: time.Minute, reports: []*Report{retriable, retriable, fine}, want: fine, wantWaited: []time.Duration{2 * time.Second, 2 * time.Second}},
		"time is up":                  {wait: 3 * time.Second, reports: []*Report{retriable, retriable, retriable}, want: retriable, wantWaited: []time.Duration{2 * time.Second, time.Second}},
		"waiting would not help":      {wait: time.Minute, reports: []*Report{hopeless}, want: hopeless},
		"the API server is not there": {wait: time.Minute, err: broken},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			clock, asked := &hurried{FakeClock: clocktesting.NewFakeClock(now)}, 0
			got, err := Await(t.Context(), clock, tc.wait, func(context.Context) (*Report, error) {
				if tc.err != nil {
					return nil, tc.err
				}
				asked++
				return tc.reports[asked-1], nil
			})
			if !errors.Is(err, tc.err) || got != tc.want || asked != len(tc.reports) {
				t.Errorf("got %p, %v after %d attempts, want %p, %v after %d", got, err, asked, tc.want, tc.err, len(tc.reports))
			}
			if diff := cmp.Diff(tc.wantWaited, clock.waited); diff != "" {
				t.Errorf("waited (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Await(ctx, clocktesting.NewFakeClock(now), time.Minute, func(context.Context) (*Report, error) {
		cancel()
		return &Report{Checks: []Result{{State: Failed, retry: true}}}, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestJUnitIsReadBack(t *testing.T) {
	warned := judged("", []diagnosticsv1alpha1.Finding{report(finding.ComponentSkew, "koordctl install", "koordlet is \x1b[31mv1.6.0\x1b[0m & <old>")})
	other := fixed("configured", failed())
	other.Category = Config
	checks := []Check{fixed("passed", pass("fine")), fixed("warned", warned), fixed("unread", unknown("list pods: not permitted")), other, fixed("after", pass(""), "configured")}
	report := &Report{Checks: Run(checks, Selection{Categories: Categories()}, &Facts{})}
	for least, wantFailures := range map[diagnosticsv1alpha1.Severity]int{"": 1, "error": 1, "warning": 2, "info": 2} {
		var out bytes.Buffer
		if err := WriteJUnit(&out, report, least); err != nil {
			t.Fatal(err)
		}
		var got junitSuites
		if err := xml.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatalf("%v in %s", err, out.String())
		}
		if got.Tests != 5 || got.Failures != wantFailures || got.Skipped != 2 || len(got.Suites) != 2 {
			t.Errorf("--fail-on %q: %+v", least, got)
		}
		if bytes.ContainsRune(out.Bytes(), 0x1b) {
			t.Errorf("an escape sequence gets through: %q", out.String())
		}
		configured := got.Suites[1].Cases[0]
		if configured.Failure == nil || configured.Failure.Type != "KOORD0006" || configured.Failure.Message != "it is not there" {
			t.Errorf("case %+v", configured)
		}
		if unread := got.Suites[0].Cases[2]; unread.Skipped == nil || unread.Skipped.Message != "unknown: list pods: not permitted" {
			t.Errorf("case %+v", unread)
		}
	}
}

func TestTheSummaryCountsEveryState(t *testing.T) {
	var s Summary
	for _, state := range []State{Pass, Pass, Warning, Failed, Skipped, Unknown} {
		s.count(state)
	}
	if got := s.String(); got != "6 checks: 2 passed, 1 with warnings, 1 failed, 1 skipped, 1 unknown" {
		t.Error(got)
	}
}
