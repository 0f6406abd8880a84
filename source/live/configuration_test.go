package live

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"

	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/live/livetest"
)

// archive is an API server that takes patches of one ConfigMap and keeps ControllerRevisions. Everything else is livetest's.
type archive struct {
	livetest.Server
	mu        sync.Mutex
	revisions []appsv1.ControllerRevision
	// patches in order: content type, query, body.
	patches []string
	// kept names the field manager that an apply conflicts with unless it is forced.
	kept string
	// quotas are the ElasticQuotas; nil is a cluster that does not know the kind.
	quotas []schedulingsigsv1alpha1.ElasticQuota
	// taken are revision numbers that another client takes first.
	taken int
}

func (a *archive) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	switch {
	case r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/controllerrevisions/"):
		a.annotate(w, r, body)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/configmaps"):
		if len(a.ConfigMaps) > 0 {
			livetest.Fail(w, http.StatusConflict, metav1.StatusReasonAlreadyExists, "it exists")
			return
		}
		answer(w, corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{ResourceVersion: "1"}})
	case r.Method == http.MethodPatch:
		a.patch(w, r, body)
	case strings.Contains(r.URL.Path, "/controllerrevisions"):
		a.revision(w, r, body)
	case strings.Contains(r.URL.Path, "/daemonsets/"):
		set := appsv1.DaemonSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}}
		set.Spec.Template.Spec.Containers = []corev1.Container{{Args: []string{"--v=2", "--feature-gates=BECPUEvict=true,CPUBurst=false"}}}
		answer(w, set)
	case strings.HasSuffix(r.URL.Path, "/elasticquotas") && a.quotas != nil:
		answer(w, schedulingsigsv1alpha1.ElasticQuotaList{Items: a.quotas})
	default:
		a.Server.ServeHTTP(w, r)
	}
}

func answer(w http.ResponseWriter, object any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(object)
}

func (a *archive) patch(w http.ResponseWriter, r *http.Request, body []byte) {
	a.patches = append(a.patches, r.Header.Get("Content-Type")+" "+strings.TrimSuffix(r.URL.RawQuery, "&timeout=1m0s")+" "+string(body))
	if a.kept != "" && r.URL.Query().Get("force") == "false" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusConflict)
		_ = json.NewEncoder(w).Encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: http.StatusConflict, Reason: metav1.StatusReasonConflict,
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict, Message: fmt.Sprintf("conflict with %q using v1", a.kept)}}},
		})
		return
	}
	answer(w, corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{ResourceVersion: "8"}})
}

func (a *archive) annotate(w http.ResponseWriter, r *http.Request, body []byte) {
	var patch appsv1.ControllerRevision
	_ = json.Unmarshal(body, &patch)
	for i := range a.revisions {
		if strings.HasSuffix(r.URL.Path, "/"+a.revisions[i].Name) {
			maps.Copy(a.revisions[i].Annotations, patch.Annotations)
			answer(w, a.revisions[i])
		}
	}
}

func (a *archive) revision(w http.ResponseWriter, r *http.Request, body []byte) {
	switch r.Method {
	case http.MethodGet:
		answer(w, appsv1.ControllerRevisionList{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ControllerRevisionList"}, Items: a.revisions})
	case http.MethodDelete:
		name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
		a.revisions = slices.DeleteFunc(a.revisions, func(revision appsv1.ControllerRevision) bool { return revision.Name == name })
		answer(w, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess})
	case http.MethodPost:
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
		revision, ok := object.(*appsv1.ControllerRevision)
		switch {
		case err != nil || !ok:
			livetest.Fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, fmt.Sprint(err))
		case a.taken > 0:
			a.taken--
			livetest.Fail(w, http.StatusConflict, metav1.StatusReasonAlreadyExists, "it exists")
		default:
			revision.TypeMeta = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ControllerRevision"}
			a.revisions = append(a.revisions, *revision)
			answer(w, revision)
		}
	}
}

func (a *archive) source(t *testing.T) *Source {
	t.Helper()
	return a.behind(t, a)
}

// behind starts the archive, and returns a source that asks a handler in front of it.
func (a *archive) behind(t *testing.T, handler http.Handler) *Source {
	t.Helper()
	a.Start(t)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	config := a.Kubeconfig("")
	config.Clusters["test"].Server = server.URL
	return New(clientcmd.NewDefaultClientConfig(config, &clientcmd.ConfigOverrides{}), Options{})
}

func stored(owned ...string) corev1.ConfigMap {
	fields := map[string]any{}
	for _, key := range owned {
		fields["f:"+key] = map[string]any{}
	}
	raw, _ := json.Marshal(map[string]any{"f:data": fields})
	return corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "koordinator-system", Name: "slo-controller-config", ResourceVersion: "7", ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "kubectl-koord", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(string(raw))},
			{Manager: "helm", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(`{"f:data":{"f:system-config":{}}}`)},
		}},
		Data: map[string]string{"colocation-config": "{}", "cpu-burst-config": "{}", "system-config": "{}"},
	}
}

func TestConfigurationIsReadWithWhatItIsJudgedBy(t *testing.T) {
	a := &archive{Server: livetest.Server{ConfigMaps: []corev1.ConfigMap{
		stored("cpu-burst-config"),
		{ObjectMeta: metav1.ObjectMeta{Namespace: "koordinator-system", Name: "slo-controller-config-last-good"}, Data: map[string]string{"colocation-config": `{"enable": true}`}},
		configMap(schedulerConfig, "config.yaml", "kind: KubeSchedulerConfiguration\nprofiles:\n- pluginConfig:\n  - {name: ElasticQuota, args: {guaranteeUsage: true}}\n"),
	}}}
	got, err := a.source(t).Configuration(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	args := &quota.Args{GuaranteeUsage: true}
	quota.SetDefaults(args)
	want := &source.Configuration{
		ElasticQuota: args,
		Namespace:    "koordinator-system", Name: "slo-controller-config", Exists: true, ResourceVersion: "7", Owned: []string{"cpu-burst-config"},
		Data: stored().Data, LastGood: map[string]string{"colocation-config": `{"enable": true}`}, Features: map[string]bool{"BECPUEvict": true, "CPUBurst": false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

func TestAMissingConfigurationIsNoError(t *testing.T) {
	got, err := (&archive{}).source(t).Configuration(t.Context(), "elsewhere")
	if err != nil || got.Exists || got.Namespace != "elsewhere" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestWriteConfiguration(t *testing.T) {
	base := stored("cpu-burst-config")
	tests := map[string]struct {
		change      func(map[string]string)
		force       bool
		dryRun      bool
		kept        string
		wantPatches []string
		wantCode    finding.Code
	}{
		"what changes and what was written before is applied, over the version read": {
			change:      func(data map[string]string) { data["colocation-config"] = "1" },
			wantPatches: []string{`application/apply-patch+yaml fieldManager=kubectl-koord&force=false {"apiVersion":"v1","data":{"colocation-config":"1","cpu-burst-config":"{}"},"kind":"ConfigMap","metadata":{"name":"slo-controller-config","namespace":"koordinator-system","resourceVersion":"7"}}`},
		},
		"a dry run asks the server": {
			change: func(data map[string]string) { data["cpu-burst-config"] = "1" }, dryRun: true,
			wantPatches: []string{`application/apply-patch+yaml dryRun=All&fieldManager=kubectl-koord&force=false {"apiVersion":"v1","data":{"cpu-burst-config":"1"},"kind":"ConfigMap","metadata":{"name":"slo-controller-config","namespace":"koordinator-system","resourceVersion":"7"}}`},
		},
		"a key that goes makes it one merge patch": {
			change:      func(data map[string]string) { delete(data, "system-config"); data["colocation-config"] = "1" },
			wantPatches: []string{`application/merge-patch+json fieldManager=kubectl-koord {"data":{"colocation-config":"1","system-config":null},"metadata":{"name":"slo-controller-config","namespace":"koordinator-system","resourceVersion":"7"}}`},
		},
		"what the installation wrote is taken over": {
			change: func(data map[string]string) { data["cpu-burst-config"] = "1" }, kept: "helm",
			wantPatches: []string{"force=false", "force=true"},
		},
		"what a GitOps tool keeps is not": {
			change: func(data map[string]string) { data["cpu-burst-config"] = "1" }, kept: "argocd-controller",
			wantPatches: []string{"force=false"}, wantCode: finding.ConfigTakenOver,
		},
		"unless it is forced": {
			change: func(data map[string]string) { data["cpu-burst-config"] = "1" }, kept: "argocd-controller", force: true, wantPatches: []string{"force=true"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a := &archive{kept: tc.kept, Server: livetest.Server{ConfigMaps: []corev1.ConfigMap{base}}}
			s := a.source(t)
			current, err := s.Configuration(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			data := maps.Clone(current.Data)
			tc.change(data)
			_, err = s.WriteConfiguration(t.Context(), source.ConfigurationWrite{Base: current, Data: data, Force: tc.force, DryRun: tc.dryRun})
			if (err != nil) != (tc.wantCode != "") || tc.wantCode != "" && !hasCode(err, tc.wantCode) {
				t.Errorf("error %v, want code %q", err, tc.wantCode)
			}
			if len(a.patches) != len(tc.wantPatches) {
				t.Fatalf("patches %q", a.patches)
			}
			for i, want := range tc.wantPatches {
				if !strings.Contains(a.patches[i], want) {
					t.Errorf("patch %d (-want +got):\n%s", i, cmp.Diff(want, a.patches[i]))
				}
			}
		})
	}
}

func TestRevisionsAreBoundedAndNeverRenumbered(t *testing.T) {
	a := &archive{}
	s := a.source(t)
	for i := range source.MaxRevisions + 3 {
		a.mu.Lock()
		if i == 4 {
			a.taken = 2
		}
		a.mu.Unlock()
		kept, err := s.KeepRevision(t.Context(), "", source.Revision{User: "eve", Cause: "test", Data: map[string]string{"i": strconv.Itoa(i)}})
		if err != nil {
			t.Fatal(err)
		}
		if want := int64(i + 1); i < 4 && kept.Number != want || i >= 4 && kept.Number != want+2 {
			t.Errorf("revision %d got number %d", i, kept.Number)
		}
	}
	got, err := s.Revisions(t.Context(), "")
	if err != nil || len(got) != source.MaxRevisions {
		t.Fatalf("%d revisions, %v", len(got), err)
	}
	if first, last := got[0], got[len(got)-1]; first.Data["i"] != "3" || last.Data["i"] != strconv.Itoa(source.MaxRevisions+2) || last.User != "eve" || last.Cause != "test" {
		t.Errorf("from %+v to %+v", first, last)
	}
}

// TestAVersionHasOneRevision: between the write of one program and its revision another may find the version and keep it.
func TestAVersionHasOneRevision(t *testing.T) {
	a := &archive{}
	s := a.source(t)
	found := source.Revision{Cause: source.FoundCause, ResourceVersion: "7", Data: map[string]string{"a": "1"}}
	written := source.Revision{Cause: "config set", User: "eve", ResourceVersion: "7", Data: map[string]string{"a": "1"}}
	for _, revision := range []source.Revision{found, {Cause: "config set", ResourceVersion: "8"}, written, found} {
		if _, err := s.KeepRevision(t.Context(), "", revision); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Revisions(t.Context(), "")
	if err != nil || len(got) != 2 {
		t.Fatalf("revisions %+v, %v", got, err)
	}
	if got[0].Cause != "config set" || got[0].User != "eve" || got[0].ResourceVersion != "7" {
		t.Errorf("the revision of version 7 is %+v", got[0])
	}
}

func TestAConfigurationThatAnotherClientCreatedIsAConflict(t *testing.T) {
	for name, tc := range map[string]struct {
		there    []corev1.ConfigMap
		wantCode finding.Code
	}{
		"it is new":      {nil, ""},
		"another client": {[]corev1.ConfigMap{stored()}, finding.ConfigChanged},
	} {
		t.Run(name, func(t *testing.T) {
			a := &archive{Server: livetest.Server{ConfigMaps: tc.there}}
			base := &source.Configuration{Namespace: "koordinator-system", Name: "slo-controller-config"}
			_, err := a.source(t).WriteConfiguration(t.Context(), source.ConfigurationWrite{Base: base, Data: map[string]string{"system-config": "{}"}})
			if (err != nil) != (tc.wantCode != "") || err != nil && !hasCode(err, tc.wantCode) {
				t.Errorf("error %v, want code %q", err, tc.wantCode)
			}
		})
	}
}

func TestImpactDoesWithWhatItMayRead(t *testing.T) {
	a := &archive{Server: livetest.Server{Nodes: []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n"}}}, Denied: []string{"list pods", "list nodeslos"}}}
	got, err := a.source(t).Impact(t.Context())
	if err != nil || len(got.Nodes) != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if got.KnowsSLOs || len(got.Incomplete) != 2 || len(got.Unknown) != 2 || !got.Unknown.Has(unknown.Pods) || !got.Unknown.Has(unknown.NodeSLOs) {
		t.Errorf("incomplete %q, NodeSLOs known: %t, unknown %v", got.Incomplete, got.KnowsSLOs, got.Unknown)
	}
	a = &archive{Server: livetest.Server{Denied: []string{"list nodes"}}}
	if _, err := a.source(t).Impact(t.Context()); !hasCode(err, finding.Forbidden) {
		t.Errorf("error %v without the nodes", err)
	}
}

// TestImpactCountsWaitingPodsWhereTheyMatter: quotas share by what is asked for, and nothing else looks at pods without a node.
func TestImpactCountsWaitingPodsWhereTheyMatter(t *testing.T) {
	pod := func(name, node string, phase corev1.PodPhase) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "spark", Name: name}, Spec: corev1.PodSpec{NodeName: node}, Status: corev1.PodStatus{Phase: phase}}
	}
	pods := []corev1.Pod{
		pod("bound", "n", corev1.PodRunning), pod("waiting", "", corev1.PodPending), pod("finished", "n", corev1.PodSucceeded), pod("refused", "", corev1.PodFailed),
	}
	tests := map[string]struct {
		quotas []schedulingsigsv1alpha1.ElasticQuota
		want   []string
	}{
		"no such kind": {nil, []string{"bound"}},
		"no quotas":    {[]schedulingsigsv1alpha1.ElasticQuota{}, []string{"bound"}},
		"a quota":      {[]schedulingsigsv1alpha1.ElasticQuota{{ObjectMeta: metav1.ObjectMeta{Name: "spark"}}}, []string{"bound", "waiting"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a := &archive{quotas: tc.quotas, Server: livetest.Server{Nodes: []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n"}}}, Pods: pods}}
			impact, err := a.source(t).Impact(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range impact.Pods {
				got = append(got, impact.Pods[i].Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || len(impact.Incomplete) > 0 {
				t.Errorf("incomplete %q, pods (-want +got):\n%s", impact.Incomplete, diff)
			}
		})
	}
	t.Run("a pod that gets its node between the lists counts once", func(t *testing.T) {
		if got := notAmong([]corev1.Pod{pod("a", "", corev1.PodPending), pod("b", "", corev1.PodPending)}, []corev1.Pod{pod("a", "n", corev1.PodRunning)}); len(got) != 1 || got[0].Name != "b" {
			t.Errorf("got %+v", got)
		}
	})
}
