package migration

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// upstream is a configuration as Koordinator's users have it.
const upstream = `{
  "apiVersion": "descheduler/v1alpha2", "kind": "MigrationControllerArgs", "dryRun": false, "maxConcurrentReconciles": 2,
  "evictFailedBarePods": true, "evictLocalStoragePods": true, "evictSystemCriticalPods": true, "evictAllBarePods": true, "ignorePvcPods": true,
  "labelSelector": {"matchLabels": {"app": "web"}}, "namespaces": {"exclude": ["kube-system"]}, "nodeFit": true, "nodeSelector": "pool=a",
  "priorityThreshold": {"value": 9000}, "maxMigratingGlobally": 50, "maxMigratingPerNamespace": 5, "maxMigratingPerNode": 3,
  "maxMigratingPerWorkload": "20%", "maxUnavailablePerWorkload": 2, "skipCheckExpectedReplicas": true,
  "objectLimiters": {"workload": {"duration": "10m", "maxMigrating": 1}}, "defaultJobMode": "EvictDirectly", "defaultJobTTL": "10m",
  "evictQPS": "2.5", "evictBurst": 3, "evictionPolicy": "SoftEviction", "defaultDeleteOptions": {"gracePeriodSeconds": 30},
  "schedulerNames": ["koord-scheduler", "other"], "arbitrationArgs": {"enabled": true, "interval": "1s"}, "skipEvictionGates": ["PVC"]
}`

func TestArgsAreThoseOfUpstream(t *testing.T) {
	args := &Args{}
	if err := json.Unmarshal([]byte(upstream), args); err != nil {
		t.Fatal(err)
	}
	before, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	SetDefaults(args)
	if errs := Validate(args); len(errs) > 0 {
		t.Errorf("unexpected errors: %v", errs)
	}
	var got, want map[string]any
	if err := json.Unmarshal(before, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(upstream), &want); err != nil {
		t.Fatal(err)
	}
	delete(want, "dryRun") // false is the same as nothing
	want["defaultJobTTL"], want["evictQPS"] = "10m0s", "2500m"
	want["objectLimiters"].(map[string]any)["workload"].(map[string]any)["duration"] = "10m0s"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

func TestDefaultsAreThoseOfUpstream(t *testing.T) {
	args := DefaultArgs()
	if errs := Validate(args); len(errs) > 0 {
		t.Errorf("the defaults are invalid: %v", errs)
	}
	if args.EvictQPS.AsApproximateFloat64() != 10 || args.EvictBurst != 1 || *args.MaxMigratingPerNode != 2 || args.MaxMigratingGlobally != nil ||
		args.DefaultJobTTL.Duration != 5*time.Minute || args.DefaultJobMode != "ReservationFirst" || args.EvictionPolicy != Eviction ||
		args.ArbitrationArgs.Interval.Duration != 500*time.Millisecond || args.MaxConcurrentReconciles != 1 ||
		args.ObjectLimiters[LimitedWorkload].Duration.Duration != 5*time.Minute || args.ObjectLimiters[LimitedWorkload].Burst != 1 {
		t.Errorf("defaults: %+v", args)
	}
}

func TestEveryWrongArgumentIsReported(t *testing.T) {
	args := DefaultArgs()
	args.MaxConcurrentReconciles, args.EvictBurst, args.MaxMigratingGlobally = -1, -2, new(int32(0))
	args.DefaultJobMode, args.EvictionPolicy, args.SkipEvictionGates = "Fast", "Kill", []string{"PVC", "Everything"}
	args.DefaultJobTTL, args.ArbitrationArgs.Interval = &metav1.Duration{}, &metav1.Duration{Duration: -1}
	args.EvictQPS.Set(0)
	args.MaxMigratingPerWorkload, args.MaxUnavailablePerWorkload = new(intstr.FromString("0%")), new(intstr.FromString("half"))
	args.Namespaces = &Namespaces{Include: []string{"A"}, Exclude: []string{"b"}}
	args.PriorityThreshold = &PriorityThreshold{Value: new(int32(1)), Name: "high"}
	args.NodeSelector, args.LabelSelector = "a in b", &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b c"}}
	args.ObjectLimiters = map[LimitedObject]ObjectLimiter{"cluster": {Duration: metav1.Duration{Duration: -1}}}
	args.DefaultDeleteOptions = &metav1.DeleteOptions{GracePeriodSeconds: new(int64(-1)), Preconditions: &metav1.Preconditions{}}
	args.SchedulerNames = []string{""}
	want := map[string]bool{
		"maxConcurrentReconciles": true, "evictBurst": true, "maxMigratingGlobally": true, "defaultJobMode": true, "evictionPolicy": true,
		"skipEvictionGates[1]": true, "defaultJobTTL": true, "arbitrationArgs.interval": true, "evictQPS": true, "maxMigratingPerWorkload": true,
		"maxUnavailablePerWorkload": true, "namespaces.exclude": true, "namespaces.include[0]": true, "priorityThreshold.name": true, "nodeSelector": true,
		"labelSelector.matchLabels": true, "objectLimiters[cluster]": true, "objectLimiters[cluster].duration": true, "objectLimiters[cluster].burst": true,
		"defaultDeleteOptions.gracePeriodSeconds": true, "defaultDeleteOptions.preconditions": true, "schedulerNames[0]": true,
	}
	got := map[string]bool{}
	for _, err := range Validate(args) {
		got[err.Field] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields with errors (-want +got):\n%s", diff)
	}
}
