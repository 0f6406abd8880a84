package kubectlplugin

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/core/jobinsight"
	"koordinator.sh/koord/source/live/livetest"
)

// jobCluster is a cluster in which 20 runs of report have ended, and a pod of the next one runs for 10 minutes.
func jobCluster() *livetest.Server {
	store := jobinsight.NewStore(0)
	for i := range 20 {
		scale := 1 + 0.02*float64(i%7)
		run := jobinsight.Run{Kind: jobinsight.Kind{User: "etl", Application: "report"}, Outcome: jobinsight.Completed, Ended: testNow.Add(time.Duration(i-30) * time.Hour),
			Values: jobinsight.Observed(scale*(2<<30), scale*0.8, time.Duration(scale*float64(20*time.Minute)))}
		if i == 10 {
			run.Outcome = jobinsight.Killed
		}
		store.Observe(run)
	}
	server := cluster()
	pod := makePod("etl", "report-29384756-x7k2p", "worker-1", list("cpu", "2", "memory", "8Gi"))
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "report-29384756", Controller: new(true)}}
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{
		Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(testNow.Add(-10 * time.Minute))}}}}}
	server.Pods = append(server.Pods, pod)
	server.ConfigMaps = append(server.ConfigMaps, corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "koordinator-system", Name: jobinsight.ConfigMapName(0)},
		BinaryData: map[string][]byte{jobinsight.DataKey: store.Encode(0)[0]},
	})
	return server
}

// stored is the ConfigMap with what was learned.
func stored(s *livetest.Server) *corev1.ConfigMap { return &s.ConfigMaps[len(s.ConfigMaps)-1] }

// toldByYARN has nine runs of an application that is not a pod.
func toldByYARN(s *livetest.Server) {
	store, _ := jobinsight.Decode([][]byte{stored(s).BinaryData[jobinsight.DataKey]}, 0)
	for i := range 9 {
		store.Observe(jobinsight.Run{Kind: jobinsight.Kind{User: "etl", Queue: "root.batch", Application: "wordcount", Shape: "yarn/MAPREDUCE"}, Source: jobinsight.YARN,
			Outcome: jobinsight.Completed, Ended: testNow.Add(time.Duration(i-30) * time.Hour), Values: jobinsight.Observed(40<<30, 12, 2*time.Hour)})
	}
	stored(s).BinaryData[jobinsight.DataKey] = store.Encode(0)[0]
}

// waitingJob has the job that runs hold all of a quota, for which the next run of it waits.
func waitingJob(s *livetest.Server) {
	quota := schedulingsigsv1alpha1.ElasticQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "etl", Name: "etl", Labels: map[string]string{extension.LabelQuotaParent: extension.RootQuotaName}},
		Spec:       schedulingsigsv1alpha1.ElasticQuotaSpec{Min: list("cpu", "2", "memory", "8Gi"), Max: list("cpu", "2", "memory", "8Gi")},
	}
	s.Lists = map[string]runtime.Object{"elasticquotas": &schedulingsigsv1alpha1.ElasticQuotaList{Items: []schedulingsigsv1alpha1.ElasticQuota{quota}}}
	running := &s.Pods[len(s.Pods)-1]
	running.Labels = map[string]string{extension.LabelQuotaName: "etl"}
	waits := makePod("etl", "report-29384757-aaaaa", "", list("cpu", "2", "memory", "8Gi"))
	waits.Labels, waits.OwnerReferences = running.Labels, []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "report-29384757", Controller: new(true)}}
	s.Pods = append(s.Pods, waits)
}

func TestForecastJob(t *testing.T) {
	const line = "forecast job report-29384756-x7k2p -n etl"
	tests := map[string]struct {
		line   string
		server func(*livetest.Server)
	}{
		"running":      {line, nil},
		"running-wide": {line + " -o wide", nil},
		"running-json": {line + " -o json", nil},
		"running-name": {line + " -o name", nil},
		"overdue": {line, func(s *livetest.Server) {
			s.Pods[len(s.Pods)-1].Status.ContainerStatuses[0].State.Running.StartedAt = metav1.NewTime(testNow.Add(-24 * time.Hour))
		}},
		"from-a-manifest": {"forecast job -f testdata/forecast-job.yaml --confidence 0.5", nil},
		"of-yarn":         {"forecast job --job-application=wordcount --job-shape=yarn/MAPREDUCE -o wide", toldByYARN},
		"of-yarn-json":    {"forecast job --job-application=wordcount --job-shape=yarn/MAPREDUCE -o json", toldByYARN},
		"without-a-name":  {"forecast job --job-shape=x", nil},
		"another-job":     {"forecast job -f testdata/admission-job.yaml", nil},
		"nothing-learned": {line + " --strict", func(s *livetest.Server) { s.ConfigMaps = s.ConfigMaps[:len(s.ConfigMaps)-1] }},
		"damaged": {line, func(s *livetest.Server) {
			data := stored(s).BinaryData[jobinsight.DataKey]
			stored(s).BinaryData[jobinsight.DataKey] = data[:len(data)-5]
		}},
		"waiting":      {"forecast job report-29384757-aaaaa -n etl", waitingJob},
		"waiting-json": {"forecast job report-29384757-aaaaa -n etl -o json", waitingJob},
		"waiting-for-a-service": {"forecast job report-29384757-aaaaa -n etl", func(s *livetest.Server) {
			waitingJob(s)
			s.Pods[len(s.Pods)-2].OwnerReferences = nil
		}},
		"waiting-without-quotas": {"forecast job report-29384757-aaaaa -n etl", func(s *livetest.Server) {
			waitingJob(s)
			s.Denied = []string{"list elasticquotas"}
		}},
		"no-job":         {"forecast job web-0 -n shop", nil},
		"unknown":        {"forecast job nothing -n etl", nil},
		"not-permitted":  {line, func(s *livetest.Server) { s.Denied = []string{"get configmaps"} }},
		"of-nothing":     {"forecast job", nil},
		"bad-confidence": {line + " --confidence 1", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := jobCluster()
			if test.server != nil {
				test.server(server)
			}
			golden(t, "forecast-job/"+name, test.line, run(t, server, test.line))
		})
	}
}
