package overview

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// owned makes a pod one of a controller.
func owned(kind, name string, p corev1.Pod) corev1.Pod {
	p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: name, Controller: new(true)}}
	return p
}

func labelled(key, value string, p corev1.Pod) corev1.Pod {
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	p.Labels[key] = value
	return p
}

// deployed is a pod of a Deployment.
func deployed(name, hash string, p corev1.Pod) corev1.Pod {
	return labelled("pod-template-hash", hash, owned("ReplicaSet", name+"-"+hash, p))
}

func waits(p corev1.Pod) corev1.Pod {
	p.Spec.NodeName = ""
	return p
}

func recommends(kind, name string, containers ...corev1.ResourceList) analysisv1alpha1.Recommendation {
	r := analysisv1alpha1.Recommendation{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	r.Spec.Target.Workload = &analysisv1alpha1.CrossVersionObjectReference{Kind: kind, Name: name}
	r.Status.PodStatus = &analysisv1alpha1.RecommendedPodStatus{}
	for _, list := range containers {
		r.Status.PodStatus.ContainerStatuses = append(r.Status.PodStatus.ContainerStatuses, analysisv1alpha1.RecommendedContainerStatus{Resources: list})
	}
	return r
}

// workloadText is a row in one line, CPU alone.
func workloadText(r *diagnosticsv1alpha1.WorkloadOverview) string {
	amount := func(v *int64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprint(*v)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s pods=%d/%d/%d req=%d batch=%d used=%s idle=%s rec=%s", r.Namespace, r.Name, r.Pods, r.Waiting, r.Measured,
		r.CPU.Requested, r.CPU.Batch, amount(r.CPU.Used), amount(r.CPU.Idle), amount(r.CPU.Recommended)))
}

func TestWorkloads(t *testing.T) {
	batch := resources("kubernetes.io/batch-cpu", "2000", "kubernetes.io/batch-memory", "1Gi")
	other := deployed("web", "5d8f", pod("web-4", 9500, resources("cpu", "1")))
	other.Namespace = "shop"
	pods := []corev1.Pod{
		deployed("web", "5d8f", pod("web-1", 9500, resources("cpu", "4", "memory", "8Gi"))),
		deployed("web", "77c9", pod("web-2", 9500, resources("cpu", "4", "memory", "8Gi"))),
		waits(deployed("web", "77c9", pod("web-3", 9500, resources("cpu", "4", "memory", "8Gi")))),
		owned("ReplicaSet", "bare-5d8f", pod("bare-1", 9500, resources("cpu", "1"))),
		owned("SparkApplication", "pi", pod("driver", 5500, batch)),
		owned("Pod", "driver", pod("executor-1", 5500, batch)),
		owned("Pod", "gone", pod("executor-2", 5500, batch)),
		pod("shell", 0, nil),
		labelled("team", "a", owned("StatefulSet", "db", pod("db-0", 9500, resources("cpu", "2")))),
		other,
	}
	metrics := []slov1alpha1.NodeMetric{metric("node-a", 30*time.Second, podUse("web-1", "1", "1Gi"), podUse("web-2", "6", "1Gi"), podUse("driver", "500m", "1Gi"), podUse("db-0", "500m", "1Gi"))}
	recommendations := []analysisv1alpha1.Recommendation{recommends("Deployment", "web", resources("cpu", "2"), resources("cpu", "500m")), {}}
	tests := []struct {
		name   string
		groups []Group
		want   []string
	}{
		{
			name: "workloads, by the chain of owners",
			want: []string{
				"default deployment/web pods=3/1/2 req=12000 batch=0 used=7000 idle=3000 rec=7500",
				"default pod/gone pods=1/0/0 req=2000 batch=2000 used=- idle=- rec=-",
				"default pod/shell pods=1/0/0 req=0 batch=0 used=- idle=- rec=-",
				"default replicaset/bare-5d8f pods=1/0/0 req=1000 batch=0 used=- idle=- rec=-",
				"default sparkapplication/pi pods=2/0/1 req=4000 batch=4000 used=500 idle=1500 rec=-",
				"default statefulset/db pods=1/0/1 req=2000 batch=0 used=500 idle=1500 rec=-",
				"shop deployment/web pods=1/0/0 req=1000 batch=0 used=- idle=- rec=-",
			},
		},
		{
			name: "namespaces", groups: []Group{GroupNamespace},
			want: []string{
				"default pods=9/1/4 req=21000 batch=6000 used=8000 idle=6000 rec=7500",
				"shop pods=1/0/0 req=1000 batch=0 used=- idle=- rec=-",
			},
		},
		{
			name: "a label and a tier", groups: []Group{"label:team", GroupTier},
			want: []string{
				"<none>,batch pods=3/0/1 req=6000 batch=6000 used=500 idle=1500 rec=-",
				"<none>,plain pods=6/1/2 req=14000 batch=0 used=7000 idle=3000 rec=7500",
				"a,plain pods=1/0/1 req=2000 batch=0 used=500 idle=1500 rec=-",
			},
		},
		{
			name: "namespaces and bands", groups: []Group{GroupNamespace, GroupBand},
			want: []string{
				"default koord-batch pods=3/0/1 req=6000 batch=6000 used=500 idle=1500 rec=-",
				"default koord-prod pods=6/1/3 req=15000 batch=0 used=7500 idle=4500 rec=7500",
				"shop koord-prod pods=1/0/0 req=1000 batch=0 used=- idle=- rec=-",
			},
		},
		{
			name: "nodes", groups: []Group{GroupNode},
			want: []string{
				"<none> pods=1/1/0 req=4000 batch=0 used=- idle=- rec=2500",
				"node-a pods=9/0/4 req=18000 batch=6000 used=8000 idle=6000 rec=5000",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list := Workloads(WorkloadsInput{Pods: pods, Metrics: metrics, Recommendations: recommendations, Groups: tt.groups, Now: noon})
			var got []string
			for i := range list.Items {
				got = append(got, workloadText(&list.Items[i]))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOwnersEnd: pods that own each other, or themselves, are a workload all the same.
func TestOwnersEnd(t *testing.T) {
	pods := []corev1.Pod{owned("Pod", "b", pod("a", 0, nil)), owned("Pod", "a", pod("b", 0, nil)), owned("Pod", "self", pod("self", 0, nil))}
	list := Workloads(WorkloadsInput{Pods: pods, Now: noon})
	total := int32(0)
	for i := range list.Items {
		total += list.Items[i].Pods
	}
	if total != 3 {
		t.Errorf("%d of 3 pods are in rows: %+v", total, list.Items)
	}
}

// TestGroupsAddUp: whatever pods are grouped by, all of them are in a row, with all that they request and use.
func TestGroupsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var pods []corev1.Pod
		var uses []*slov1alpha1.PodMetricInfo
		for i := range rapid.IntRange(0, 12).Draw(t, "pods") {
			name := fmt.Sprint("p", i)
			p := pod(name, rapid.SampledFrom([]int32{0, 5500, 9500}).Draw(t, "priority"), resources("cpu", fmt.Sprint(rapid.IntRange(0, 8).Draw(t, "cpu"))))
			if rapid.Bool().Draw(t, "deployed") {
				p = deployed(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "deployment"), "5d8f", p)
			}
			if rapid.Bool().Draw(t, "labelled") {
				p = labelled(extension.LabelPodQoS, rapid.SampledFrom([]string{"LS", "BE"}).Draw(t, "qos"), p)
			}
			if rapid.Bool().Draw(t, "measured") {
				uses = append(uses, podUse(name, fmt.Sprint(rapid.IntRange(0, 8).Draw(t, "used")), "1Gi"))
			}
			pods = append(pods, p)
		}
		metrics := []slov1alpha1.NodeMetric{metric("node-a", time.Second, uses...)}
		groups := rapid.SliceOfN(rapid.SampledFrom(append(Groups(), "label:pod-template-hash")), 0, 3).Draw(t, "groups")
		sum := func(groups []Group) string {
			var count, measured int32
			var requested, used, idle int64
			for _, row := range Workloads(WorkloadsInput{Pods: pods, Metrics: metrics, Groups: groups, Now: noon}).Items {
				count, measured, requested = count+row.Pods, measured+row.Measured, requested+row.CPU.Requested
				if row.CPU.Used != nil {
					used, idle = used+*row.CPU.Used, idle+*row.CPU.Idle
				}
			}
			return fmt.Sprintf("%d pods, %d measured, requested %d, used %d, idle %d", count, measured, requested, used, idle)
		}
		if diff := cmp.Diff(sum([]Group{GroupNamespace}), sum(groups)); diff != "" {
			t.Fatalf("by %v (-namespace +groups):\n%s", groups, diff)
		}
	})
}

func TestParseGroup(t *testing.T) {
	for word, want := range map[string]string{
		"workload": "", "tier": "", "label:team": "", "label:app.kubernetes.io/name": "",
		"label:": `group "label:": must be workload, namespace, node, band, qos, tier or label:KEY`, "teams": `group "teams": must be`, "": `group "": must be`,
	} {
		group, err := ParseGroup(word)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) || err == nil && string(group) != word {
			t.Errorf("%q is %q, %v; want error %q", word, group, err, want)
		}
	}
}
