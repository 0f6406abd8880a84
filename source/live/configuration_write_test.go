package live

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/live/livetest"
)

// refusing is an archive that answers some requests, as METHOD and the end of a path, with a Status.
func refusing(t *testing.T, a *archive, answers map[string]metav1.Status) *Source {
	t.Helper()
	return a.behind(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for ask, status := range answers {
			if method, path, _ := strings.Cut(ask, " "); method == r.Method && strings.HasSuffix(r.URL.Path, path) {
				livetest.Fail(w, int(status.Code), status.Reason, status.Message)
				return
			}
		}
		a.ServeHTTP(w, r)
	}))
}

func TestAWriteThatIsRefusedSaysWhatToDo(t *testing.T) {
	const there = `patch configmaps "slo-controller-config" in namespace "koordinator-system": `
	changed := metav1.Status{Code: 409, Reason: metav1.StatusReasonConflict, Message: "the object has been modified"}
	forbidden := metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: `configmaps is forbidden: User "eve" cannot patch resource "configmaps"`}
	tests := map[string]struct {
		missing  bool
		answer   metav1.Status
		wantCode finding.Code
		want     string
		wantHint string
	}{
		"it was modified since":  {answer: changed, wantCode: finding.ConfigChanged, want: there + "it was modified concurrently", wantHint: "koordctl config get shows what is there now"},
		"the webhook rejects it": {answer: invalid422, wantCode: finding.ConfigMalformed, want: there + "the API server rejects it: " + invalid422.Message, wantHint: "koordctl config lint"},
		"no permission":          {answer: forbidden, wantCode: finding.Forbidden, want: there + `not permitted for user "eve"`, wantHint: "kubectl auth can-i patch configmaps -n koordinator-system"},
		"it was deleted since":   {answer: missing404, wantCode: finding.NotFound, want: there + "not found"},
		"no permission to create": {
			missing: true, answer: forbidden, wantCode: finding.Forbidden, want: strings.Replace(there, "patch", "create", 1) + `not permitted for user "eve"`,
			wantHint: "kubectl auth can-i create configmaps -n koordinator-system",
		},
		"the server is in trouble": {answer: broken500, want: there + "etcd is away"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := refusing(t, &archive{}, map[string]metav1.Status{"PATCH /slo-controller-config": tc.answer, "POST /configmaps": tc.answer})
			base := &source.Configuration{Namespace: "koordinator-system", Name: "slo-controller-config", Exists: !tc.missing, ResourceVersion: "7"}
			written, err := s.WriteConfiguration(t.Context(), source.ConfigurationWrite{Base: base, Data: map[string]string{"system-config": "{}"}})
			if err == nil || err.Error() != tc.want || written != nil {
				t.Fatalf("written %+v, error %v, want %q", written, err, tc.want)
			}
			if found, coded := finding.From(err); coded != (tc.wantCode != "") || coded && (found.Code != tc.wantCode || found.Hint != tc.wantHint) {
				t.Errorf("finding %+v, want %s with %q", found, tc.wantCode, tc.wantHint)
			}
		})
	}
}

func TestAWriteKeepsWhatItWasMadeOf(t *testing.T) {
	base := &source.Configuration{Namespace: "koordinator-system", Name: "slo-controller-config", Exists: true, ResourceVersion: "7", Data: map[string]string{"system-config": "{}"}}
	written, err := (&archive{}).source(t).WriteConfiguration(t.Context(), source.ConfigurationWrite{Base: base, Data: map[string]string{"system-config": "1"}})
	if err != nil || written.ResourceVersion != "8" {
		t.Errorf("written %+v, error %v", written, err)
	}
	if base.ResourceVersion != "7" || base.Data["system-config"] != "{}" {
		t.Errorf("the version that was read is now %+v", base)
	}
}

func TestARevisionThatIsRefusedIsAnError(t *testing.T) {
	full := func() *archive {
		a := &archive{}
		for i := range source.MaxRevisions {
			a.revisions = append(a.revisions, revisionOfNumber(int64(i+1), fmt.Sprintf("v%d", i), source.FoundCause, `{"data":{}}`))
		}
		return a
	}
	tests := map[string]struct {
		ask      string
		version  string
		wantCode finding.Code
		want     string
	}{
		"they may not be listed":               {ask: "GET /controllerrevisions", wantCode: finding.Forbidden, want: "list controllerrevisions.apps"},
		"they may not be created":              {ask: "POST /controllerrevisions", wantCode: finding.Forbidden, want: "create controllerrevisions.apps"},
		"the oldest may not be deleted":        {ask: "DELETE /slo-controller-config-1", wantCode: finding.Forbidden, want: `delete controllerrevisions.apps "slo-controller-config-1"`},
		"that of the version may not be named": {ask: "PATCH /slo-controller-config-2", version: "v1", wantCode: finding.Forbidden, want: `patch controllerrevisions.apps "slo-controller-config-2"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := refusing(t, full(), map[string]metav1.Status{tc.ask: forbidden403})
			_, err := s.KeepRevision(t.Context(), "", source.Revision{Cause: "config set", ResourceVersion: tc.version})
			if !hasCode(err, tc.wantCode) || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("error %v, want %s %q", err, tc.wantCode, tc.want)
			}
		})
	}
}

// revisionOfNumber is a ControllerRevision of a version of the configuration.
func revisionOfNumber(number int64, version, cause, data string) appsv1.ControllerRevision {
	return appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("slo-controller-config-%d", number), Namespace: "koordinator-system", Annotations: map[string]string{revisionOf: version, revisionCause: cause}},
		Revision:   number, Data: runtime.RawExtension{Raw: json.RawMessage(data)},
	}
}

func TestRevisionsThatCannotBeReadAreLeftOut(t *testing.T) {
	a := &archive{revisions: []appsv1.ControllerRevision{
		revisionOfNumber(3, "", "", `{"data":{"a":"3"}}`), revisionOfNumber(1, "", "", `{"data":{"a":"1"}}`), revisionOfNumber(2, "", "", `{"data":"none"}`),
	}}
	got, err := a.source(t).Revisions(t.Context(), "")
	if err != nil || len(got) != 2 || got[0].Number != 1 || got[1].Number != 3 || got[1].Data["a"] != "3" {
		t.Errorf("revisions %+v, error %v", got, err)
	}
}

// TestANumberThatIsAlwaysTakenIsGivenUp: another client keeps revisions faster, or one of that name is not listed.
func TestANumberThatIsAlwaysTakenIsGivenUp(t *testing.T) {
	a := &archive{taken: 100}
	if _, err := a.source(t).KeepRevision(t.Context(), "", source.Revision{Cause: "config set"}); err == nil || a.taken != 100-revisionAttempts {
		t.Errorf("error %v after %d attempts", err, 100-a.taken)
	}
}

func TestOnlyManagersThatGiveWayAreTakenOver(t *testing.T) {
	for manager, wantCode := range map[string]finding.Code{"helm": "", "kubectl-edit": "", "kubectl": "", "kubectl-koord": "", "flux": finding.ConfigTakenOver, "kubectl-koord-other": finding.ConfigTakenOver} {
		a := &archive{kept: manager}
		base := &source.Configuration{Namespace: "koordinator-system", Name: "slo-controller-config", Exists: true}
		_, err := a.source(t).WriteConfiguration(t.Context(), source.ConfigurationWrite{Base: base, Data: map[string]string{"system-config": "{}"}})
		if (err != nil) != (wantCode != "") || err != nil && (!hasCode(err, wantCode) || !strings.Contains(err.Error(), "kept by "+manager)) {
			t.Errorf("%s: error %v, want code %q", manager, err, wantCode)
		}
		if forced := slices.ContainsFunc(a.patches, func(patch string) bool { return strings.Contains(patch, "force=true") }); forced != (wantCode == "") {
			t.Errorf("%s: patches %q", manager, a.patches)
		}
	}
}
