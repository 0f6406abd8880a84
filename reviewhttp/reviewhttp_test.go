package reviewhttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var resource = schema.GroupResource{Group: "example.org", Resource: "questions"}

func TestQuestionsAreDecoded(t *testing.T) {
	tests := map[string]struct {
		method, kind, body string
		wantCode           int
		wantText           string
	}{
		"a question":              {"POST", "application/json", `{"name":"a"}`, 200, `{"name":"a"}`},
		"with a charset":          {"POST", "application/json; charset=utf-8", `{"name":"<"}`, 200, `{"name":"<"}`},
		"of no type":              {"POST", "", `{"name":"a"}`, 200, `{"name":"a"}`},
		"of another type":         {"POST", "text/plain", `{"name":"a"}`, 415, "must be application/json"},
		"of a type that is none":  {"POST", "/", `{"name":"a"}`, 415, "must be application/json"},
		"that is no JSON":         {"POST", "application/json", `?`, 400, "decode the request"},
		"that is another value":   {"POST", "application/json", `[1]`, 400, "decode the request"},
		"that is too large":       {"POST", "application/json", `{"name":"` + strings.Repeat("n", MaxBody) + `"}`, 413, "limit is 65536 bytes"},
		"that is asked by GET":    {"GET", "application/json", ``, 405, "MethodNotAllowed"},
		"that is asked by DELETE": {"DELETE", "application/json", `{}`, 405, "MethodNotAllowed"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			recorder, request := httptest.NewRecorder(), httptest.NewRequest(tc.method, "/", strings.NewReader(tc.body))
			if tc.kind != "" {
				request.Header.Set("Content-Type", tc.kind)
			}
			var question struct {
				Name string `json:"name"`
			}
			err := CheckMethod(recorder, request, resource)
			if err == nil {
				err = Decode(recorder, request, resource, &question)
			}
			if err != nil {
				Fail(recorder, request, err)
			} else {
				Reply(recorder, request, http.StatusOK, question)
			}
			if recorder.Code != tc.wantCode || !strings.Contains(recorder.Body.String(), tc.wantText) {
				t.Errorf("status %d: %s; want %d with %q", recorder.Code, recorder.Body, tc.wantCode, tc.wantText)
			}
			if allowed := recorder.Header().Get("Allow"); (allowed == "POST") != (tc.wantCode == 405) {
				t.Errorf("allowed is %q", allowed)
			}
		})
	}
}

func TestErrorsAreStatuses(t *testing.T) {
	tests := map[string]struct {
		err       error
		wantCode  int
		wantRetry string
	}{
		"one of the API":          {apierrors.NewNotFound(resource, "a"), 404, ""},
		"one of the API, wrapped": {fmt.Errorf("explain: %w", apierrors.NewTooManyRequests("busy", 3)), 429, "3"},
		"a deadline":              {fmt.Errorf("explain: %w", context.DeadlineExceeded), 504, "1"},
		"a client that went":      {context.Canceled, 504, "1"},
		"any other":               {errors.New("broken"), 500, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			recorder := httptest.NewRecorder()
			Fail(recorder, httptest.NewRequest(http.MethodPost, "/", nil), tc.err)
			var status metav1.Status
			if err := json.Unmarshal(recorder.Body.Bytes(), &status); err != nil || status.Kind != "Status" || status.APIVersion != "v1" {
				t.Fatalf("%v: no Status: %s", err, recorder.Body)
			}
			if recorder.Code != tc.wantCode || int(status.Code) != tc.wantCode || recorder.Header().Get("Retry-After") != tc.wantRetry {
				t.Errorf("status %d, code %d, again after %q; want %d after %q", recorder.Code, status.Code, recorder.Header().Get("Retry-After"), tc.wantCode, tc.wantRetry)
			}
		})
	}
}
