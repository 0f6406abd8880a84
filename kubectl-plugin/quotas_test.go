package kubectlplugin

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/source/live/livetest"
)

// makeQuota is an ElasticQuota of namespace shop with what koord-scheduler published about its cpu and memory.
func makeQuota(name, parent, guaranteed, most, runtime, request, used string) schedulingsigsv1alpha1.ElasticQuota {
	q := schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{}, Annotations: map[string]string{}}}
	if parent != "" {
		q.Labels[extension.LabelQuotaParent] = parent
	}
	q.Spec.Min, q.Spec.Max = list("cpu", guaranteed, "memory", "20Gi"), list("cpu", most, "memory", "100Gi")
	if runtime != "" {
		q.Annotations[extension.AnnotationQuotaRuntime] = fmt.Sprintf(`{"cpu":%q,"memory":"20Gi"}`, runtime)
		q.Annotations[extension.AnnotationQuotaRequest] = fmt.Sprintf(`{"cpu":%q,"memory":"8Gi"}`, request)
		q.Status.Used = list("cpu", used, "memory", "8Gi")
	}
	return q
}

// quotaPod is a pod of a quota.
func quotaPod(name, quota, node, cpu string) corev1.Pod {
	pod := makePod("shop", name, node, list("cpu", cpu, "memory", "2Gi"))
	pod.Labels = map[string]string{extension.LabelQuotaName: quota}
	return pod
}

// quotaCluster has 93 cores: quota batch lends, web borrows and has a pod that does not fit, and one quota has no parent.
func quotaCluster() *livetest.Server {
	server := cluster()
	parent := makeQuota("teams", "", "60", "80", "80", "85", "70")
	parent.Labels[extension.LabelQuotaIsParent] = "true"
	web := makeQuota("web", "teams", "20", "60", "60", "75", "60")
	web.Labels["tier"] = "front"
	batch := makeQuota("batch", "teams", "40", "70", "20", "10", "10")
	batch.Spec.Max[extension.BatchCPU] = list("cpu", "9000")["cpu"]
	orphan := makeQuota("orphan", "gone", "5", "10", "5", "0", "0")
	server.Pods = append(server.Pods, quotaPod("web-1", "web", "worker-1", "25"), quotaPod("web-2", "web", "worker-2", "25"),
		quotaPod("web-3", "web", "worker-2", "10"), quotaPod("web-4", "web", "", "15"), quotaPod("job-1", "batch", "worker-1", "10"))
	server.Pods[len(server.Pods)-3].Labels[extension.LabelQuotaPreemptible] = "false"
	server.Lists = map[string]runtime.Object{
		"elasticquotas": &schedulingsigsv1alpha1.ElasticQuotaList{Items: []schedulingsigsv1alpha1.ElasticQuota{parent, web, batch, orphan}},
		"podgroups":     &schedulingsigsv1alpha1.PodGroupList{},
	}
	return server
}

func quotasOf(server *livetest.Server) []schedulingsigsv1alpha1.ElasticQuota {
	return server.Lists["elasticquotas"].(*schedulingsigsv1alpha1.ElasticQuotaList).Items
}

func TestQuotasPrint(t *testing.T) {
	noQuota := func(s *livetest.Server) { s.Lists["elasticquotas"] = &schedulingsigsv1alpha1.ElasticQuotaList{} }
	schedulerConfig := func(args string) func(*livetest.Server) {
		return func(s *livetest.Server) {
			s.ConfigMaps = append(s.ConfigMaps, corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: "koordinator-system", Name: "koord-scheduler-config"},
				Data: map[string]string{"koord-scheduler-config": "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n" +
					"- schedulerName: koord-scheduler\n  pluginConfig:\n  - name: ElasticQuota\n    args: " + args + "\n"},
			})
		}
	}
	tests := map[string]struct {
		line string
		edit func(*livetest.Server)
	}{
		"top-quotas":               {line: "top quotas"},
		"top-quotas-all-wide":      {line: "top elasticquotas -A -o wide"},
		"top-quotas-sorted":        {line: "top eq --sort-by=state"},
		"top-quotas-by-use":        {line: "top quotas --sort-by=cpu -o name"},
		"top-quotas-selected":      {line: "top quota -l tier=front -L tier"},
		"top-quotas-named":         {line: "top quotas web batch"},
		"top-quotas-jsonpath":      {line: "top quotas -o jsonpath={.items[?(@.state==\"Waiting\")].metadata.name}"},
		"top-quotas-columns":       {line: "top quotas -o custom-columns=NAME:.metadata.name,RUNTIME:.resources[0].runtime"},
		"top-quotas-yaml":          {line: "top quotas web -o yaml"},
		"top-quotas-unknown":       {line: "top quotas wbe"},
		"top-quotas-bad-order":     {line: "top quotas --sort-by=size"},
		"top-quotas-none":          {line: "top quotas -n spark"},
		"top-quotas-not-permitted": {line: "top quotas", edit: func(s *livetest.Server) { s.Denied = []string{"list elasticquotas"} }},
		"top-quotas-without-crds":  {line: "top quotas", edit: func(s *livetest.Server) { s.NoCRDs = true }},

		"tree-quota":                {line: "tree quota"},
		"tree-quota-ascii":          {line: "tree eq --ascii"},
		"tree-quota-wide":           {line: "tree quota -o wide"},
		"tree-quota-below":          {line: "tree quota teams"},
		"tree-quota-typed":          {line: "tree quota/teams -o name"},
		"tree-quota-depths":         {line: "tree quota -o jsonpath={range .items[*]}{.metadata.name}={.depth};{end}"},
		"tree-quota-unknown":        {line: "tree quota shop/team"},
		"tree-quota-none":           {line: "tree quota", edit: noQuota},
		"tree-quota-not-permitted":  {line: "tree quota", edit: func(s *livetest.Server) { s.Denied = []string{"list elasticquotas"} }},
		"tree-quota-of-a-namespace": {line: "tree quota", edit: func(s *livetest.Server) { s.Denied = []string{"list elasticquotas -A"} }},
		"tree-quota-without-crds":   {line: "tree quota", edit: func(s *livetest.Server) { s.NoCRDs = true }},

		"whatif-quota":                 {line: "whatif quota web --max cpu=80"},
		"whatif-quota-lends-less":      {line: "whatif quota batch --min cpu=60 --fail-on=warning"},
		"whatif-quota-less-min":        {line: "whatif quota/batch --min cpu=10 -o wide"},
		"whatif-quota-over":            {line: "whatif quota web --max cpu=30", edit: schedulerConfig("{monitorAllQuotas: true}")},
		"whatif-quota-refused":         {line: "whatif quota shop/web --min cpu=70 --fail-on=error"},
		"whatif-quota-same":            {line: "whatif quota web --max cpu=60000m"},
		"whatif-quota-removes":         {line: "whatif quota batch --max kubernetes.io/batch-cpu-"},
		"whatif-quota-weight":          {line: "whatif quota web --shared-weight cpu=1"},
		"whatif-quota-json":            {line: "whatif quota web --max cpu=80 -o json"},
		"whatif-quota-name":            {line: "whatif quota batch --min cpu=60 -o name"},
		"whatif-quota-of-nothing":      {line: "whatif quota web"},
		"whatif-quota-bad-amount":      {line: "whatif quota web --min cpu=many"},
		"whatif-quota-unknown":         {line: "whatif quota wbe --min cpu=1"},
		"whatif-quota-without-pods":    {line: "whatif quota web --max cpu=80", edit: func(s *livetest.Server) { s.Denied = []string{"list pods"} }},
		"whatif-quota-orphan":          {line: "whatif quota orphan --max cpu=20"},
		"lint-quotas":                  {line: "lint quotas -f testdata/quotas.yaml --fail-on=error"},
		"lint-quotas-of-the-cluster":   {line: "lint quota -f testdata/quotas.yaml --cluster"},
		"lint-quotas-json":             {line: "lint eq -f testdata/quotas.yaml -o json"},
		"lint-quotas-name":             {line: "lint quotas -f testdata/quotas.yaml -o name"},
		"lint-quotas-of-nothing":       {line: "lint quotas -f testdata/admission-job.yaml"},
		"lint-quotas-no-file":          {line: "lint quotas"},
		"lint-quotas-not-permitted":    {line: "lint quotas -f testdata/quotas.yaml --cluster", edit: func(s *livetest.Server) { s.Denied = []string{"list elasticquotas -A"} }},
		"lint-quotas-without-nodes":    {line: "lint quotas -f testdata/quotas.yaml --cluster --strict", edit: func(s *livetest.Server) { s.Denied = []string{"list nodes"} }},
		"verify-quotas":                {line: "verify quotas"},
		"verify-quota":                 {line: "verify web --fail-on=warning"},
		"verify-quota-json":            {line: "verify quota batch -o json"},
		"verify-quota-jsonpath":        {line: "verify eq -o jsonpath={range .differences[*]}{.quota}/{.figure}/{.resource};{end}"},
		"verify-quotas-name":           {line: "verify quotas -o name"},
		"verify-quota-unknown":         {line: "verify quota wbe"},
		"verify-quotas-without-pods":   {line: "verify quotas --strict", edit: func(s *livetest.Server) { s.Denied = []string{"list pods"} }},
		"verify-quotas-not-permitted":  {line: "verify quotas", edit: func(s *livetest.Server) { s.Denied = []string{"list elasticquotas"} }},
		"verify-quotas-without-crds":   {line: "verify quotas", edit: func(s *livetest.Server) { s.NoCRDs = true }},
		"explain-quota":                {line: "explain quota web"},
		"explain-quota-lends":          {line: "explain quota/batch"},
		"why-quota":                    {line: "why quota/web"},
		"why-quota-orphan":             {line: "why quota/shop/orphan"},
		"explain-quota-wide":           {line: "explain eq teams -o wide"},
		"explain-quota-pods":           {line: "explain quota web --pods 1"},
		"explain-quota-orphan":         {line: "explain quota shop/orphan"},
		"explain-quota-name":           {line: "explain quota web -o name"},
		"explain-quota-jsonpath":       {line: "explain quota web -o jsonpath={range .divisions[*]}{.resource}={.available};{end}"},
		"explain-quota-unknown":        {line: "explain quota wen"},
		"explain-quota-bad-pods":       {line: "explain quota web --pods -1"},
		"explain-quota-revoked":        {line: "explain quota batch", edit: schedulerConfig("{monitorAllQuotas: true, delayEvictTime: 30s}")},
		"explain-quota-bad-args":       {line: "explain quota web --strict", edit: schedulerConfig("{delayEvictTime: soon}")},
		"explain-quota-without-pods":   {line: "explain quota web --strict", edit: func(s *livetest.Server) { s.Denied = []string{"list pods"} }},
		"explain-quota-without-nodes":  {line: "explain quota web", edit: func(s *livetest.Server) { s.Denied = []string{"list nodes", "get configmaps"} }},
		"explain-quota-not-permitted":  {line: "explain quota web", edit: func(s *livetest.Server) { s.Denied = []string{"list elasticquotas"} }},
		"explain-quota-of-a-namespace": {line: "explain quota web", edit: func(s *livetest.Server) { s.Denied = []string{"list elasticquotas -A"} }},
		"explain-quota-without-crds":   {line: "explain quota web", edit: func(s *livetest.Server) { s.NoCRDs = true }},
		"explain-quota-unpublished": {line: "explain quota web", edit: func(s *livetest.Server) {
			quotasOf(s)[1].Annotations, quotasOf(s)[1].Status.Used = nil, nil
		}},
		"explain-quota-hostile": {line: "explain quota web", edit: func(s *livetest.Server) {
			quotasOf(s)[1].Annotations[extension.AnnotationQuotaNamespaces] = `["\u001b[31mshop\u001b[0m\nerror: forged"]`
			quotasOf(s)[1].Annotations[extension.AnnotationQuotaRequest] = "\x1b]0;owned\x07{"
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := quotaCluster()
			if tc.edit != nil {
				tc.edit(server)
			}
			golden(t, name, tc.line, run(t, server, tc.line))
		})
	}
	for _, width := range []int{80, 160} {
		for _, line := range []string{"top quotas", "tree quota"} {
			name := fmt.Sprintf("%s-%d", strings.ReplaceAll(line, " ", "-"), width)
			golden(t, name, line, run(t, quotaCluster(), line, func(o *Options) { o.Terminal = Terminal{Output: true, Width: width} }))
		}
	}
}

func TestNamesOfQuotasComplete(t *testing.T) {
	for line, want := range map[string]string{
		"__complete explain quota w":   "web\n:4\n",
		"__complete tree quota shop/t": "shop/teams\n:4\n",
		"__complete top quotas web b":  "batch\n:4\n",
		"__complete why quota/o":       "quota/orphan\n:4\n",
	} {
		if got := run(t, quotaCluster(), line).stdout; got != want {
			t.Errorf("%s completes to %q, want %q", line, got, want)
		}
	}
}
