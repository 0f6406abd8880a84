package live

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"koordinator.sh/koord/api/finding"
)

// TestObjectsAnswerInPlaceOfAnAPIThatDoesNot, and of nothing else: a question that is wrong stays wrong.
func TestObjectsAnswerInPlaceOfAnAPIThatDoesNot(t *testing.T) {
	ask := request{verb: "create", group: "diagnostics.koordinator.sh", resource: "podexplanations", namespace: "shop"}
	resource := schema.GroupResource{Group: ask.group, Resource: ask.resource}
	schedulerDown := &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusServiceUnavailable, Message: "no lease", Details: &metav1.StatusDetails{
		Causes: []metav1.StatusCause{{Type: "Other"}, {Type: metav1.CauseType(finding.SchedulerUnavailable)}},
	}}}
	const alone = ", so the answer is from API objects only"
	tests := map[string]struct {
		err         error
		wantCode    finding.Code
		wantMessage string
		wantHint    string
		// wantErr is the error of what objects cannot answer either.
		wantErr string
	}{
		"no such API": {
			err: apierrors.NewNotFound(resource, ""), wantCode: finding.DiagnosticsUnavailable, wantMessage: "this cluster has no diagnostics API" + alone,
			wantHint: "koordctl install",
		},
		"no permission": {
			err: apierrors.NewForbidden(resource, "", errors.New("no")), wantCode: finding.Forbidden,
			wantMessage: `you do not have permission to create podexplanations.diagnostics.koordinator.sh in namespace "shop"` + alone,
			wantHint:    "kubectl auth can-i create podexplanations.diagnostics.koordinator.sh -n shop",
		},
		"the scheduler is down": {
			err: schedulerDown, wantCode: finding.SchedulerUnavailable, wantMessage: "koord-scheduler did not respond" + alone + ": no lease",
			wantHint: "kubectl get lease -A | grep scheduler",
		},
		"the API is broken": {
			err: apierrors.NewInternalError(errors.New("nil pointer")), wantCode: finding.DiagnosticsUnavailable,
			wantMessage: "the diagnostics API did not respond" + alone + ": Internal error occurred: nil pointer",
			wantHint:    "kubectl get apiservice v1alpha1.diagnostics.koordinator.sh",
		},
		"the API is busy": {
			err: apierrors.NewTooManyRequests("slow down", 1), wantCode: finding.DiagnosticsUnavailable,
			wantMessage: "the diagnostics API did not respond" + alone + ": slow down", wantHint: "kubectl get apiservice v1alpha1.diagnostics.koordinator.sh",
		},
		"it takes too long": {
			err: context.DeadlineExceeded, wantCode: finding.DiagnosticsUnavailable,
			wantMessage: "the diagnostics API did not respond" + alone + ": context deadline exceeded",
			wantHint:    "kubectl get apiservice v1alpha1.diagnostics.koordinator.sh",
		},
		"the question is wrong":       {err: apierrors.NewBadRequest("spec.podName is empty"), wantErr: `create podexplanations.diagnostics.koordinator.sh in namespace "shop": spec.podName is empty`},
		"the question is invalid":     {err: apierrors.NewInvalid(schema.GroupKind{}, "x", nil), wantErr: "is invalid"},
		"the user interrupts it":      {err: context.Canceled, wantErr: "context canceled"},
		"the caller is not logged in": {err: apierrors.NewUnauthorized("who are you"), wantErr: "you must be logged in to the server (Unauthorized)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			note, err := fallback(t.Context(), ask, tc.err)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("error %v, want %q", err, tc.wantErr)
				}
				return
			}
			if err != nil || note.Code != string(tc.wantCode) || note.Message != tc.wantMessage || note.Hint != tc.wantHint || note.Severity != "warning" {
				t.Errorf("error %v, %+v\nwant %s %q, %q", err, note, tc.wantCode, tc.wantMessage, tc.wantHint)
			}
		})
	}
}

// TestAnInterruptionIsNoAnswerOfTheAPI: the request may have failed otherwise by then.
func TestAnInterruptionIsNoAnswerOfTheAPI(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fallback(ctx, request{verb: "create", resource: "x"}, apierrors.NewInternalError(errors.New("closed"))); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
