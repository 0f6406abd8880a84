package kubectlplugin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/kubectl-plugin/manifest"
	"koordinator.sh/koord/source/live/livetest"
)

const sparkJob = `apiVersion: batch/v1
kind: Job
metadata: {name: etl}
spec:
  template:
    metadata: {labels: {app: spark}}
    spec:
      containers:
      - name: main
        image: example.org/spark
        resources: {requests: {cpu: "2", memory: 4Gi}, limits: {cpu: "4"}}
`

// podManifest is a Pod with these labels, and this priority class where one is given.
func podManifest(name, labels, class string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %s, labels: {%s}}\nspec:\n  priorityClassName: %q\n  schedulerName: koord-scheduler\n"+
		"  containers: [{name: main, image: x, resources: {requests: {cpu: 500m, memory: 1Gi}}}]\n", name, labels, class)
}

func makeProfile(name string, spec configv1alpha1.ClusterColocationProfileSpec) configv1alpha1.ClusterColocationProfile {
	return configv1alpha1.ClusterColocationProfile{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
}

func labelled(labels ...string) *metav1.LabelSelector {
	out := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for i := 0; i < len(labels); i += 2 {
		out.MatchLabels[labels[i]] = labels[i+1]
	}
	return out
}

// admissionCluster has a profile for batch pods and others, and koord-manager with its policy and webhooks.
func admissionCluster() *livetest.Server {
	server := quotaCluster()
	server.Namespaces[0].Labels = map[string]string{"kubernetes.io/metadata.name": "shop", "team": "web"}
	server.Profiles = []configv1alpha1.ClusterColocationProfile{
		makeProfile("batch", configv1alpha1.ClusterColocationProfileSpec{
			Selector: labelled("app", "spark"), QoSClass: "BE", PriorityClassName: "koord-batch", SchedulerName: "koord-scheduler",
			Labels: map[string]string{"mutated": "yes"}, KoordinatorPriority: new(int32(1000)),
		}),
		makeProfile("ml", configv1alpha1.ClusterColocationProfileSpec{NamespaceSelector: labelled("team", "ml", "gpu", "yes"), Selector: labelled("app", "train")}),
	}
	class := func(name string, value int32) schedulingv1.PriorityClass {
		return schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
	}
	named := metav1.ObjectMeta{Name: "koordinator-colocation-profiles"}
	server.Lists["priorityclasses"] = &schedulingv1.PriorityClassList{Items: []schedulingv1.PriorityClass{class("koord-batch", 5500), class("koord-prod", 9500)}}
	server.Lists["mutatingadmissionpolicies"] = &admissionregistrationv1.MutatingAdmissionPolicyList{Items: []admissionregistrationv1.MutatingAdmissionPolicy{{ObjectMeta: named}}}
	server.Lists["mutatingadmissionpolicybindings"] = &admissionregistrationv1.MutatingAdmissionPolicyBindingList{Items: []admissionregistrationv1.MutatingAdmissionPolicyBinding{{ObjectMeta: named}}}
	server.Lists["mutatingwebhookconfigurations"] = &admissionregistrationv1.MutatingWebhookConfigurationList{Items: []admissionregistrationv1.MutatingWebhookConfiguration{{
		ObjectMeta: metav1.ObjectMeta{Name: "koordinator-admission"}, Webhooks: []admissionregistrationv1.MutatingWebhook{{Name: "mutate-pod.koordinator.sh"}},
	}}}
	server.Lists["deployments"] = &appsv1.DeploymentList{Items: []appsv1.Deployment{{ObjectMeta: metav1.ObjectMeta{Namespace: "koordinator-system", Name: "koord-manager"}}}}
	return server
}

// managerArguments starts koord-manager with these arguments.
func managerArguments(s *livetest.Server, arguments ...string) {
	s.Lists["deployments"].(*appsv1.DeploymentList).Items[0].Spec.Template.Spec.Containers = []corev1.Container{{Args: arguments}}
}

// created answers a dry run with the pod as sent, after an edit.
func created(t *testing.T, edit func(*corev1.Pod)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("dryRun") != "All" {
			t.Errorf("%s %s is no dry run", r.Method, r.URL)
		}
		pod := &corev1.Pod{}
		if err := json.NewDecoder(r.Body).Decode(pod); err != nil {
			t.Error(err)
		}
		edit(pod)
		pod.APIVersion, pod.Kind = "v1", "Pod"
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(pod)
	})
}

// allowing answers access reviews; users are those that are allowed, empty for the caller.
func allowing(t *testing.T, users ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw := &strings.Builder{}
		buffer := make([]byte, 1<<16)
		n, _ := r.Body.Read(buffer)
		raw.Write(buffer[:n])
		object, _, err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Decode([]byte(raw.String()), nil, nil)
		if err != nil {
			t.Error(err)
		}
		user := ""
		if review, ok := object.(*authorizationv1.SubjectAccessReview); ok {
			user = review.Spec.User
		}
		allowed := false
		for _, name := range users {
			allowed = allowed || name == user
		}
		status := authorizationv1.SubjectAccessReviewStatus{Allowed: allowed}
		var answer runtime.Object = &authorizationv1.SubjectAccessReview{TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SubjectAccessReview"}, Status: status}
		if user == "" {
			answer = &authorizationv1.SelfSubjectAccessReview{TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SelfSubjectAccessReview"}, Status: status}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	})
}

// batchPod does what profile batch does to the pod of sparkJob.
func batchPod(pod *corev1.Pod) {
	pod.Labels["koordinator.sh/qosClass"], pod.Labels["koordinator.sh/priority"], pod.Labels["mutated"] = "BE", "1000", "yes"
	pod.Spec.PriorityClassName, pod.Spec.Priority, pod.Spec.SchedulerName = "koord-batch", new(int32(5500)), "koord-scheduler"
	pod.Spec.PreemptionPolicy = new(corev1.PreemptLowerPriority)
	pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{
		Requests: list("kubernetes.io/batch-cpu", "2000", "kubernetes.io/batch-memory", "4Gi"), Limits: list("kubernetes.io/batch-cpu", "4000"),
	}
	pod.Annotations = map[string]string{extension.AnnotationExtendedResourceSpec: `{"containers":{"main":{"limits":{"kubernetes.io/batch-cpu":"4k"},"requests":{"kubernetes.io/batch-cpu":"2k","kubernetes.io/batch-memory":"4Gi"}}}}`}
	pod.Spec.ServiceAccountName = "default" // what the API server adds by itself is no difference
}

func TestExplainAdmission(t *testing.T) {
	foreign := func(s *livetest.Server) {
		quotasOf(s)[1].Namespace = "teams"
		s.Creates = map[string]http.Handler{"selfsubjectaccessreviews": allowing(t), "subjectaccessreviews": allowing(t)}
	}
	tests := map[string]struct {
		line, input string
		edit        func(*livetest.Server)
	}{
		"applied":        {input: sparkJob},
		"applied-wide":   {line: "-o wide", input: sparkJob},
		"json":           {line: "-o json", input: sparkJob},
		"jsonpath":       {line: "-o jsonpath={.items[0].pod.priorityClass}", input: sparkJob},
		"names":          {line: "-o name", input: sparkJob + "---\n" + podManifest("web", "app: web", "")},
		"not-selected":   {input: podManifest("web", "app: web", "koord-prod")},
		"two-documents":  {input: "# comment\n---\n" + sparkJob + "---\n" + podManifest("web", "app: web", "") + "---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\n"},
		"by-the-webhook": {input: sparkJob, edit: func(s *livetest.Server) { s.Profiles[0].Spec.Patch.Raw = []byte(`{"spec":{"hostNetwork":true}}`) }},
		"probable": {input: sparkJob, edit: func(s *livetest.Server) {
			s.Profiles[0].Spec.Probability = &intstr.IntOrString{Type: intstr.String, StrVal: "30%"}
		}},
		"no-policy": {input: sparkJob, edit: func(s *livetest.Server) { delete(s.Lists, "mutatingadmissionpolicies") }},
		"no-manager": {input: sparkJob, edit: func(s *livetest.Server) {
			for _, resource := range []string{"mutatingadmissionpolicies", "mutatingwebhookconfigurations", "deployments"} {
				delete(s.Lists, resource)
			}
		}},
		"flags-of-the-manager": {input: sparkJob, edit: func(s *livetest.Server) {
			managerArguments(s, "--skip-mutating-resources", "--skip-extended-resource-spec=true")
		}},
		"exempt": {line: "-n kube-system", input: sparkJob, edit: func(s *livetest.Server) {
			s.Namespaces = append(s.Namespaces, corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system"}})
		}},
		"overcommitted-namespace": {input: strings.ReplaceAll(podManifest("web", "app: web", "koord-prod"), "requests: {cpu: 500m", "limits: {cpu: 3"), edit: func(s *livetest.Server) {
			s.Namespaces[0].Labels["config.koordinator.sh/prod-overcommit-factor"] = "1.5"
		}},
		"refused-class":          {line: "--fail-on=error", input: podManifest("web", `"koordinator.sh/qosClass": LSR`, "koord-batch")},
		"refused-missing-class":  {input: sparkJob, edit: func(s *livetest.Server) { s.Profiles[0].Spec.PriorityClassName = "gone" }},
		"class-does-not-exist":   {input: podManifest("web", "app: web", "gone")},
		"priority-without-class": {input: strings.ReplaceAll(podManifest("web", "app: web", ""), `priorityClassName: ""`, "priority: 5500")},
		"quota-unseen": {input: podManifest("web", `"quota.scheduling.koordinator.sh/name": theirs`, "koord-prod"), edit: func(s *livetest.Server) {
			s.Denied = []string{"list elasticquotas -A"}
			managerArguments(s, "--require-quota")
		}},
		"namespace-does-not-exist": {line: "-n nowhere", input: sparkJob},
		"quota-fits":               {input: podManifest("job", `"quota.scheduling.koordinator.sh/name": batch`, "koord-prod")},
		"quota-exceeded":           {line: "--fail-on=warning", input: strings.ReplaceAll(podManifest("web", `"quota.scheduling.koordinator.sh/name": web`, "koord-prod"), "500m", "30")},
		"quota-missing":            {input: podManifest("web", `"quota.scheduling.koordinator.sh/name": wbe`, "koord-prod")},
		"quota-required":           {input: podManifest("web", `"quota.scheduling.koordinator.sh/name": wbe`, "koord-prod"), edit: func(s *livetest.Server) { managerArguments(s, "--require-quota") }},
		"quota-parent":             {input: podManifest("web", `"quota.scheduling.koordinator.sh/name": teams`, "koord-prod")},
		"quota-not-limited":        {input: strings.ReplaceAll(podManifest("web", `"quota.scheduling.koordinator.sh/name": web`, ""), "schedulerName: koord-scheduler", "schedulerName: other")},
		"quota-foreign":            {input: podManifest("web", `"quota.scheduling.koordinator.sh/name": web`, "koord-prod"), edit: foreign},
		"quota-foreign-allowed": {input: podManifest("web", `"quota.scheduling.koordinator.sh/name": web`, "koord-prod"), edit: func(s *livetest.Server) {
			foreign(s)
			s.Creates["subjectaccessreviews"] = allowing(t, "system:serviceaccount:shop:default")
		}},
		"quota-foreign-of-a-workload": {input: strings.ReplaceAll(sparkJob, "app: spark", `"quota.scheduling.koordinator.sh/name": web`), edit: func(s *livetest.Server) {
			foreign(s)
			s.Creates["selfsubjectaccessreviews"] = allowing(t, "") // the creator of pods of a Job is its controller
		}},
		"quota-foreign-unknown": {line: "--strict", input: podManifest("web", `"quota.scheduling.koordinator.sh/name": web`, "koord-prod"), edit: func(s *livetest.Server) {
			foreign(s)
			s.Denied = []string{"create subjectaccessreviews"}
		}},
		"without-profiles":       {line: "--strict", input: sparkJob, edit: func(s *livetest.Server) { s.Denied = []string{"list clustercolocationprofiles"} }},
		"without-classes":        {input: sparkJob, edit: func(s *livetest.Server) { s.Denied = []string{"list priorityclasses"} }},
		"without-namespace":      {input: sparkJob, edit: func(s *livetest.Server) { s.Denied = []string{"get namespaces"} }},
		"without-quotas":         {input: sparkJob, edit: func(s *livetest.Server) { s.Denied = []string{"list elasticquotas"} }},
		"without-quotas-refused": {input: podManifest("web", `"koordinator.sh/qosClass": LSR`, "koord-batch"), edit: func(s *livetest.Server) { s.Denied = []string{"list elasticquotas"} }},
		"without-pods":           {input: podManifest("job", `"quota.scheduling.koordinator.sh/name": batch`, "koord-prod"), edit: func(s *livetest.Server) { s.Denied = []string{"list pods", "get configmaps"} }},
		"of-a-tenant": {input: sparkJob, edit: func(s *livetest.Server) {
			s.Denied = []string{"get mutatingadmissionpolicies", "get mutatingwebhookconfigurations", "get deployments", "list elasticquotas -A", "list nodes", "list pods -A"}
		}},
		"without-anything": {input: sparkJob, edit: func(s *livetest.Server) {
			s.Denied = []string{"list clustercolocationprofiles", "list priorityclasses", "list elasticquotas", "get namespaces"}
		}},
		"without-crds": {input: sparkJob, edit: func(s *livetest.Server) {
			s.NotInstalled = []string{"clustercolocationprofiles", "elasticquotas"}
		}},
		"verified": {line: "--verify", input: sparkJob, edit: func(s *livetest.Server) { s.Creates = map[string]http.Handler{"pods": created(t, batchPod)} }},
		"verified-probable": {line: "--verify", input: sparkJob, edit: func(s *livetest.Server) {
			s.Profiles[0].Spec.Probability = new(intstr.FromInt32(50))
			s.Creates = map[string]http.Handler{"pods": created(t, batchPod)}
		}},
		"verified-differs": {line: "--verify --fail-on=warning", input: sparkJob, edit: func(s *livetest.Server) {
			s.Creates = map[string]http.Handler{"pods": created(t, func(pod *corev1.Pod) {
				batchPod(pod)
				delete(pod.Labels, "mutated")
				pod.Spec.SchedulerName = "other\x1b[31m"
			})}
		}},
		"verified-refused": {line: "--verify", input: sparkJob, edit: func(s *livetest.Server) {
			s.Creates = map[string]http.Handler{"pods": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				livetest.Fail(w, http.StatusForbidden, metav1.StatusReasonForbidden, `pods "dry-run-x" is forbidden: maximum cpu usage per Container is 1, but limit is 4`)
			})}
		}},
		"verify-not-permitted": {line: "--verify", input: sparkJob, edit: func(s *livetest.Server) { s.Denied = []string{"create pods"} }},
		"hostile": {input: strings.ReplaceAll(sparkJob, "app: spark", `app: spark, evil: "\e[31mred\nerror: forged"`), edit: func(s *livetest.Server) {
			s.Profiles[0].Spec.Labels["x"] = "\x1b]0;owned\x07"
			s.Profiles[1].Spec.NamespaceSelector, s.Profiles[1].Spec.Selector = nil, labelled("evil", "no")
		}},
		"garbage":                    {input: "{]"},
		"no-kind":                    {input: "metadata: {name: x}"},
		"no-containers":              {input: "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {}\n"},
		"unknown-field":              {input: strings.ReplaceAll(sparkJob, "image:", "imag:")},
		"unknown-kind-beside-others": {input: sparkJob + "---\napiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: x}\n"},
		"list":                       {input: "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(sparkJob), "\n", "\n  ")},
		"unknown-kind":               {input: "apiVersion: kubeflow.org/v1\nkind: \"\\e[31mTFJob\"\nmetadata: {name: x}\n"},
		"nothing":                    {input: "# nothing\n"},
		"too-large":                  {input: "# " + strings.Repeat("x", manifest.MaxBytes)},
		"no-file":                    {line: "-f /nonexistent/pod.yaml"},
		"stdin-twice":                {line: "-f - -f -"},
		"no-filename":                {line: ""},
		"other-namespace":            {input: strings.ReplaceAll(sparkJob, "{name: etl}", "{name: etl, namespace: spark}")},
		"other-namespace-than-asked": {line: "-n shop", input: strings.ReplaceAll(sparkJob, "{name: etl}", "{name: etl, namespace: spark}")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := admissionCluster()
			if tc.edit != nil {
				tc.edit(server)
			}
			line := "explain admission"
			if tc.input != "" {
				line += " -f -"
			}
			line = strings.TrimSpace(line + " " + tc.line)
			got := run(t, server, line, func(o *Options) { o.Streams.In = strings.NewReader(tc.input) })
			for _, asked := range server.Requests() {
				if strings.HasPrefix(asked, "POST") && !strings.Contains(asked, "dryRun=All") && !strings.Contains(asked, "accessreviews") {
					t.Errorf("it is asked for %s", asked)
				}
			}
			golden(t, "explain-admission/"+name, line, got)
		})
	}
}

// TestExplainAdmissionJudgesEachPodByItself: what one pod requests is not taken from the next.
func TestExplainAdmissionJudgesEachPodByItself(t *testing.T) {
	var input strings.Builder
	for i := range 3 {
		input.WriteString("---\n" + podManifest(fmt.Sprintf("job-%d", i), `"quota.scheduling.koordinator.sh/name": batch`, "koord-prod"))
	}
	got := run(t, admissionCluster(), "explain admission -f - -o jsonpath={.items[*].quota.amounts[*].available}", func(o *Options) { o.Streams.In = strings.NewReader(input.String()) })
	values := strings.Fields(got.stdout)
	if len(values) != 6 || values[0] != values[2] || values[2] != values[4] {
		t.Errorf("available are %v, want the same of each pod; %s", values, got.stderr)
	}
}
