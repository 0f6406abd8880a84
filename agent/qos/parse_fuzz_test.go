package qos

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/agent/host/machine"
)

// FuzzReclaimed: what a group's memory can be reclaimed of is never negative, and the time that it stalled is a percentage.
func FuzzReclaimed(f *testing.F) {
	f.Add([]byte("anon 15003648\nfile 36864\nkernel 1347584\ninactive_anon 14839808\nactive_anon 12288\ninactive_file 36864\nactive_file 4096\n"))
	f.Add([]byte("cache 135168\nrss 1486848\ninactive_file 135168\nactive_file 0\nhierarchical_memory_limit 9223372036854771712\ntotal_inactive_file 135168\n"))
	f.Add([]byte("some avg10=2.04 avg60=0.75 avg300=0.40 total=157656722\nfull avg10=1.29 avg60=0.44 avg300=0.20 total=89325463\n"))
	f.Add([]byte("full avg10=NaN avg60=0\nfull avg10=-1 x\nfull avg10=1e999 x\nfull avg10=+Inf x"))
	f.Add([]byte(strings.Repeat("inactive_file 9223372036854775807\n", 9)))
	f.Fuzz(func(t *testing.T, content []byte) {
		if cache := machine.PageCache(content); cache < 0 {
			t.Errorf("%d bytes of page cache", cache)
		}
		if percent := stall(string(content)); !(percent >= 0 && percent <= 100) {
			t.Errorf("stalled for %v percent", percent)
		}
	})
}

// FuzzNumbers: numbers of processes are those that the kernel has, and list the same when they are listed.
func FuzzNumbers(f *testing.F) {
	f.Add([]byte("1\n2\n4194304\n"))
	f.Add([]byte("0\n30\n7\n0\n8"))
	f.Add([]byte("-1\n+2\n99999999999999999999\n4294967297\nx\n0x1\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		found := Numbers(content)
		var list strings.Builder
		for _, id := range found {
			if id < 1 || id > math.MaxInt32 {
				t.Errorf("%d is no process", id)
			}
			fmt.Fprintln(&list, id)
		}
		if again := Numbers([]byte(list.String())); !slices.Equal(again, found) {
			t.Errorf("%v lists as %v", found, again)
		}
	})
}

// FuzzWithin: a thread is in the cgroup that its file names and in those above, and in none whose name only begins like one.
func FuzzWithin(f *testing.F) {
	const id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	f.Add("0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-"+id+".scope\n", "cri-containerd-"+id+".scope")
	f.Add("12:pids:/kubepods/burstable/pod1/"+id+"\n2:cpu,cpuacct:/kubepods/burstable/pod1/"+id+"\n1:name=systemd:/kubepods/burstable/pod1/"+id+"\n", id)
	f.Add("0::/../../kubepods/pod1/"+id+"/init\n", id)
	f.Add("0::/\n", "a")
	f.Fuzz(func(t *testing.T, content, name string) {
		if strings.Trim(name, ".") == "" || strings.ContainsAny(name, "/\n") || len(name) > 4096 {
			t.Skip("no name of a cgroup")
		}
		if strings.HasSuffix(name, "\r") {
			t.Skip("lines are read without a carriage return at their end, and no runtime gives a cgroup one")
		}
		proc := kernelfs.NewMachine()
		proc.Show("1/cgroup", content)
		if Within(proc, 1) || Within(proc, 2, name) {
			t.Error("a thread is in no cgroup, or one that has ended is in one")
		}
		if Within(proc, 1, name) && !strings.Contains(content, "/"+name) {
			t.Errorf("%q is in %q", content, name)
		}
		for shown, want := range map[string]bool{"/pods/" + name: true, "/pods/" + name + "/init": true, "/pods/" + name + "0": name == "pods", "/pods/0" + name: name == "pods"} {
			proc.Show("1/cgroup", "3:cpu,cpuacct:/\n0::"+shown+"\n")
			if got := Within(proc, 1, "kubepods/burstable/"+name); got != want {
				t.Errorf("%q is in %q: %t, want %t", shown, name, got, want)
			}
		}
	})
}
