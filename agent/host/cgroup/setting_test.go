package cgroup

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestValuesAreWrittenAndReadByVersion(t *testing.T) {
	tests := []struct {
		name    string
		setting Setting
		version Version
		value   string
		// wantWritten is what is written to the kernel, content what the file then holds, and wantRead how that is parsed.
		wantWritten, content, wantRead string
	}{
		{name: "quota, version 1", setting: CPUQuota, version: V1, value: "50000", wantWritten: "50000", content: "50000\n", wantRead: "50000"},
		{name: "quota, version 2", setting: CPUQuota, version: V2, value: "50000", wantWritten: "50000", content: "50000 100000\n", wantRead: "50000"},
		{name: "no quota, version 1", setting: CPUQuota, version: V1, value: "-1", wantWritten: "-1", content: "-1\n", wantRead: "-1"},
		{name: "no quota, version 2", setting: CPUQuota, version: V2, value: "-1", wantWritten: "max", content: "max 100000\n", wantRead: "-1"},
		{name: "shares below the least", setting: CPUShares, version: V1, value: "0", wantWritten: "2", content: "2\n", wantRead: "2"},
		{name: "shares of one CPU as a weight", setting: CPUShares, version: V2, value: "1024", wantWritten: "39", content: "39\n", wantRead: "999"},
		{name: "least shares as a weight", setting: CPUShares, version: V2, value: "2", wantWritten: "1", content: "1\n", wantRead: "2"},
		{name: "most shares as a weight", setting: CPUShares, version: V2, value: "262144", wantWritten: "10000", content: "10000\n", wantRead: "262144"},
		{name: "weight of an idle group", setting: CPUShares, version: V2, value: "2", wantWritten: "1", content: "0\n", wantRead: "3"},
		{name: "memory limit, version 2", setting: MemoryLimit, version: V2, value: "4096", wantWritten: "4096", content: "4096\n", wantRead: "4096"},
		{name: "no memory limit, version 1", setting: MemoryLimit, version: V1, value: "-1", wantWritten: "-1", content: "9223372036854771712\n", wantRead: "-1"},
		{name: "no memory limit, version 2", setting: MemoryLimit, version: V2, value: "9223372036854775807", wantWritten: "max", content: "max\n", wantRead: "-1"},
		{name: "no bound of memory, version 1", setting: MemoryHigh, version: V1, value: "9223372036854775807", wantWritten: "9223372036854771712", content: "max\n", wantRead: "-1"},
		{name: "no bound of memory, version 2", setting: MemoryHigh, version: V2, value: "-1", wantWritten: "max", content: "max\n", wantRead: "-1"},
		{name: "memory that is no whole page", setting: MemoryLimit, version: V1, value: "656594", wantWritten: "655360", content: "655360\n", wantRead: "655360"},
		{name: "CPUs in any order", setting: CPUSet, version: V1, value: "3,0-1", wantWritten: "0-1,3", content: "0-1,3\n", wantRead: "0-1,3"},
		{name: "no CPUs", setting: CPUSet, version: V2, value: "", wantWritten: "\n", content: "\n", wantRead: ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			written, err := test.setting.Encode(test.version, test.value)
			if err != nil || written != test.wantWritten {
				t.Errorf("written %q, %v, want %q", written, err, test.wantWritten)
			}
			read, err := test.setting.Decode(test.version, test.content)
			if err != nil || read != test.wantRead {
				t.Errorf("read %q, %v, want %q", read, err, test.wantRead)
			}
		})
	}
}

func TestWhatNoKernelTakesIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		setting Setting
		value   string
	}{
		"a quota below a millisecond": {CPUQuota, "999"},
		"a negative minimum":          {MemoryMin, "-1"},
		"half an idle group":          {CPUIdle, "2"},
		"text":                        {CPUShares, "many"},
		"a range that ends early":     {CPUSet, "3-1"},
		"a path":                      {CPUSet, "../../etc"},
		"an identity that is none":    {CPUBvt, "3"},
	} {
		for _, version := range []Version{V1, V2} {
			if written, err := test.setting.Encode(version, test.value); err == nil {
				t.Errorf("%s is written as %q", name, written)
			}
		}
	}
}

func TestEveryValueReadsBackAsItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		setting := rapid.SampledFrom(settings).Draw(t, "setting")
		version := rapid.SampledFrom([]Version{V1, V2}).Draw(t, "version")
		value := strconv.FormatInt(rapid.OneOf(rapid.Int64Range(-2, 4), rapid.Int64Range(0, 300000), rapid.Int64()).Draw(t, "value"), 10)
		once, err := setting.Canonical(version, value)
		if err != nil {
			return
		}
		again, err := setting.Canonical(version, once)
		if err != nil || again != once {
			t.Fatalf("%s in version %d: %q becomes %q, and that becomes %q, %v", setting.Name, version, value, once, again, err)
		}
		if setting.Looser(once, once) {
			t.Fatalf("%s: %q is looser than itself", setting.Name, once)
		}
		if joined := setting.Join(once, again); joined != once {
			t.Fatalf("%s: %q joined with itself is %q", setting.Name, once, joined)
		}
	})
}

func TestJoinIsAtLeastAsLooseAsEither(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) string {
			from := rapid.IntRange(0, 70).Draw(t, name)
			return strconv.Itoa(from) + "-" + strconv.Itoa(from+rapid.IntRange(0, 9).Draw(t, name+" length"))
		}
		a, b := draw("a"), draw("b")
		joined := CPUSet.Join(a, b)
		if CPUSet.Looser(a, joined) || CPUSet.Looser(b, joined) {
			t.Fatalf("%s joined with %s is %s", a, b, joined)
		}
	})
	if !CPUQuota.Looser("-1", "900000") || CPUQuota.Looser("900000", "-1") || !MemoryLimit.Looser("-1", "4096") || !CPUIdle.Looser("0", "1") {
		t.Error("no limit is not the loosest, or an idle group not the tightest")
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"max 100000", "0-3,8", "-1", "9223372036854771712", "18446744073709551615", "", "0-", "1e9"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		for _, setting := range settings {
			for _, version := range []Version{V1, V2} {
				value, err := setting.Decode(version, content)
				if err != nil {
					continue
				}
				if again, err := setting.Decode(version, value); err == nil && version == V1 && again != value {
					t.Fatalf("%s reads %q as %q, and that as %q", setting.Name, content, value, again)
				}
			}
		}
	})
}
