package grants

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"koordinator.sh/koord/decision/core/disclosure"
)

var someone = &user.DefaultInfo{Name: "eve", UID: "7", Groups: []string{"système:authenticated"}, Extra: map[string][]string{"scopes": {"a", "b"}}}

// counting grants what allow says, and counts how often it was asked.
func counting(asked *int, allow func(authorizer.Attributes) bool) authorizer.Authorizer {
	return authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		*asked++
		if allow(a) {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "", nil
	})
}

func TestFewRequestsAreAskedAbout(t *testing.T) {
	tests := map[string]struct {
		allow func(authorizer.Attributes) bool
		// wantMay is how many of 1,000 pods in 10 namespaces may be got, and wantAsked how many requests that takes at most.
		wantMay, wantAsked int
	}{
		"who may do everything":         {allow: func(authorizer.Attributes) bool { return true }, wantMay: 1000, wantAsked: 1},
		"who may get all pods":          {allow: func(a authorizer.Attributes) bool { return a.GetVerb() == "get" }, wantMay: 1000, wantAsked: 2},
		"who may get those of one":      {allow: func(a authorizer.Attributes) bool { return a.GetNamespace() == "ns-0" }, wantMay: 100, wantAsked: mostOfKind},
		"who may get nothing":           {allow: func(authorizer.Attributes) bool { return false }, wantMay: 0, wantAsked: mostOfKind},
		"who may get a single pod only": {allow: func(a authorizer.Attributes) bool { return a.GetName() == "pod-0" }, wantMay: 1, wantAsked: mostOfKind},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			asked, may := 0, 0
			grants := Of(t.Context(), counting(&asked, tc.allow), someone)
			for i := range 1000 {
				if grants.May(disclosure.Request{Verb: "get", Resource: "pods", Namespace: fmt.Sprintf("ns-%d", i%10), Name: fmt.Sprintf("pod-%d", i)}) {
					may++
				}
			}
			if may != tc.wantMay || asked > tc.wantAsked || grants.Err() != nil {
				t.Errorf("%d pods may be got after %d requests (%v), want %d after at most %d", may, asked, grants.Err(), tc.wantMay, tc.wantAsked)
			}
		})
	}
}

func TestWhatCannotBeAskedIsNotGranted(t *testing.T) {
	broken := authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
		return authorizer.DecisionAllow, "", errors.New("no answer")
	})
	grants := Of(t.Context(), broken, someone)
	if grants.May(disclosure.Request{Verb: "get", Resource: "nodes"}) || grants.Err() == nil {
		t.Errorf("granted, with error %v", grants.Err())
	}
}

func TestTheCallerIsHandedOn(t *testing.T) {
	header := http.Header{}
	if caller, err := Caller(header); caller != nil || err != nil {
		t.Errorf("without a header, the caller is %v, %v", caller, err)
	}
	if err := SetCaller(header, someone); err != nil {
		t.Fatal(err)
	}
	caller, err := Caller(header)
	if diff := cmp.Diff(user.Info(someone), caller); err != nil || diff != "" {
		t.Errorf("the caller (-want +got), %v:\n%s", err, diff)
	}
	for name, value := range map[string]string{"no JSON": "eve", "nobody": "%7B%7D", "no escape": "%zz"} {
		header.Set(callerHeader, value)
		if caller, err := Caller(header); err == nil {
			t.Errorf("%s: the caller is %v", name, caller)
		}
	}
}
