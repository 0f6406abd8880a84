package kernelfs

import (
	"maps"
	"math"
	"strconv"
	"strings"
	"syscall"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/decision/core/cpuset"
)

// rule is how one file behaves.
type rule struct {
	// initial content of a new cgroup.
	initial string
	// root is true when the root has the file as well, and only is true when no other cgroup has.
	root, only bool
	// write checks a value and returns it as it is shown; nil for files that cannot be written.
	write func(t *Tree, g *group, value string) (string, error)
	// writeOnly files cannot be read.
	writeOnly bool
}

// has reports whether a cgroup has the file.
func (r rule) has(parent *group) bool {
	return parent == nil && (r.root || r.only) || parent != nil && !r.only
}

func (t *Tree) rules() map[string]rule { return t.table }

// rulesOf are those of a kernel without additions.
func rulesOf(version cgroup.Version) map[string]rule {
	if version == cgroup.V2 {
		return rulesV2
	}
	return rulesV1
}

var rulesV1 = map[string]rule{
	"cgroup.procs":          {root: true},
	"tasks":                 {root: true},
	"cpu.shares":            {initial: "1024", root: true, write: setShares},
	"cpu.cfs_quota_us":      {initial: "-1", root: true, write: setQuotaV1},
	"cpu.cfs_period_us":     {initial: "100000", root: true, write: setPeriodV1},
	"cpu.cfs_burst_us":      {initial: "0", root: true, write: setBurstV1},
	"cpu.idle":              {initial: "0", root: true, write: setIdle},
	"cpu.stat":              {initial: "nr_periods 0\nnr_throttled 0\nthrottled_time 0\nwait_sum 0", root: true},
	"cpuacct.usage":         {initial: "0", root: true},
	"cpuset.cpus":           {write: setCPUsV1, root: true},
	"cpuset.mems":           {initial: "0", root: true, write: setMemoryNodes},
	"memory.limit_in_bytes": {initial: unlimitedV1, root: true, write: setLimitV1},
	"memory.usage_in_bytes": {initial: "0", root: true},
	"memory.oom_control":    {initial: "oom_kill_disable 0\nunder_oom 0\noom_kill 0", root: true},
	"memory.stat":           {initial: "cache 0\nrss 0\ninactive_file 0\ntotal_cache 0\ntotal_rss 0\ntotal_inactive_file 0", root: true},

	"blkio.throttle.read_bps_device":   {root: true, write: setRate("blkio.throttle.read_bps_device", 64)},
	"blkio.throttle.write_bps_device":  {root: true, write: setRate("blkio.throttle.write_bps_device", 64)},
	"blkio.throttle.read_iops_device":  {root: true, write: setRate("blkio.throttle.read_iops_device", 32)},
	"blkio.throttle.write_iops_device": {root: true, write: setRate("blkio.throttle.write_iops_device", 32)},
	"blkio.bfq.weight_device":          {initial: "default 100", write: setBFQWeight("blkio.bfq.weight_device")},
}

// rulesAnolis are additions of Anolis' kernel.
var rulesAnolis = map[cgroup.Version]map[string]rule{
	cgroup.V1: {
		"cpu.bvt_warp_ns": {initial: "0", root: true, write: setWithin(-1, 2)},

		"memory.min":                {initial: "0", write: setBytes},
		"memory.low":                {initial: "0", write: setBytes},
		"memory.high":               {initial: "max", write: setBytes},
		"memory.wmark_ratio":        {initial: "0", write: setWithin(0, 100)},
		"memory.wmark_scale_factor": {initial: "50", write: setWithin(1, 1000)},
		"memory.wmark_min_adj":      {initial: "0", write: setWithin(-25, 50)},
		"memory.priority":           {initial: "0", write: setWithin(0, 12)},
		"memory.use_priority_oom":   {initial: "0", root: true, write: setSwitch},
		"memory.oom.group":          {initial: "0", write: setSwitch},

		"memory.pagecache_limit.enable": {initial: "0", root: true, write: setSwitch},
		"memory.pagecache_limit.size":   {initial: "0", root: true, write: setPageCacheV1},
		"memory.pagecache_limit.sync":   {initial: "0", root: true, write: setSwitch},

		"blkio.cost.weight": {initial: "default 100", write: setCostWeight("blkio.cost.weight", "blkio.cost.qos")},
		"blkio.cost.qos":    {only: true, write: setCost("blkio.cost.qos", beginCost)},
		"blkio.cost.model":  {only: true, write: setCost("blkio.cost.model", beginModel)},
	},
	cgroup.V2: {
		"cpu.bvt_warp_ns":           {initial: "0", write: setWithin(-1, 2)},
		"memory.wmark_ratio":        {initial: "0", write: setWithin(0, 100)},
		"memory.wmark_scale_factor": {initial: "50", write: setWithin(1, 1000)},
		"memory.wmark_min_adj":      {initial: "0", write: setWithin(-25, 50)},
		"memory.priority":           {initial: "0", write: setWithin(0, 12)},
		"memory.use_priority_oom":   {initial: "0", root: true, write: setSwitch},

		"memory.pagecache_limit.enable": {initial: "0", write: setSwitch},
		"memory.pagecache_limit.size":   {initial: "0", write: setPageCacheV2},
		"memory.pagecache_limit.sync":   {initial: "0", write: setSwitch},
	},
}

// Anolis gives the tree what Anolis' kernel adds.
func (t *Tree) Anolis() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.table, t.bursty = maps.Clone(t.table), true
	maps.Copy(t.table, rulesAnolis[t.version])
	t.root.extend(rulesAnolis[t.version])
}

// Lack takes files from the tree that some kernels are built without.
func (t *Tree) Lack(files ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.table = maps.Clone(t.table)
	for _, file := range files {
		delete(t.table, file)
	}
	t.root.lack(files)
}

func (g *group) lack(files []string) {
	for _, file := range files {
		delete(g.content, file)
	}
	for _, child := range g.children {
		child.lack(files)
	}
}

func (g *group) extend(rules map[string]rule) {
	for file, rule := range rules {
		if rule.has(g.parent) {
			g.content[file] = rule.initial
		}
	}
	for _, child := range g.children {
		child.extend(rules)
	}
}

func setWithin(least, most int64) func(*Tree, *group, string) (string, error) {
	return func(_ *Tree, _ *group, value string) (string, error) {
		parsed, err := number(value)
		if err != nil || parsed < least || parsed > most {
			return "", syscall.EINVAL
		}
		return format(parsed), nil
	}
}

var rulesV2 = map[string]rule{
	"cgroup.procs":          {root: true},
	"cgroup.threads":        {root: true},
	"cpu.weight":            {initial: "100", write: setWeight},
	"cpu.max":               {initial: "max 100000", write: setMax},
	"cpu.max.burst":         {initial: "0", write: setBurstV2},
	"cpu.idle":              {initial: "0", write: setIdle},
	"cpu.stat":              {initial: "usage_usec 0\nuser_usec 0\nsystem_usec 0\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\nnr_bursts 0\nburst_usec 0", root: true},
	"cpuset.cpus":           {write: setCPUsV2},
	"cpuset.cpus.effective": {root: true},
	"cpuset.mems":           {write: setMemoryNodes},
	"memory.min":            {initial: "0", write: setBytes},
	"memory.low":            {initial: "0", write: setBytes},
	"memory.high":           {initial: "max", write: setBytes},
	"memory.max":            {initial: "max", write: setBytes},
	"memory.oom.group":      {initial: "0", write: setSwitch},
	"memory.reclaim":        {writeOnly: true, write: reclaim},
	"memory.current":        {initial: "0"},
	"memory.events":         {initial: "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0"},
	"memory.stat":           {initial: "anon 0\nfile 0\ninactive_file 0\nactive_file 0", root: true},
	"cpu.pressure":          {initial: calm, root: true},
	"memory.pressure":       {initial: calm, root: true},
	"io.pressure":           {initial: calm, root: true},
	"io.max":                {write: setRates},
	"io.weight":             {initial: "default 100", write: setCostWeight("io.weight", "io.cost.qos")},
	"io.bfq.weight":         {initial: "default 100", write: setBFQWeight("io.bfq.weight")},
	"io.latency":            {write: setTarget},
	"io.cost.qos":           {only: true, write: setCost("io.cost.qos", beginCost)},
	"io.cost.model":         {only: true, write: setCost("io.cost.model", beginModel)},
}

const (
	unlimitedV1 = "9223372036854771712"
	calm        = "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0"
	leastPeriod = 1000
	mostPeriod  = 1000000
	leastQuota  = 1000
	// mostQuota bounds a quota and its burst together.
	mostQuota = 1<<44 - 1
)

// number parses an integer as the kernel does.
func number(value string) (int64, error) {
	parsed, err := strconv.ParseInt(value, 0, 64)
	if err != nil {
		return 0, syscall.EINVAL
	}
	return parsed, nil
}

func format(value int64) string { return strconv.FormatInt(value, 10) }

func setSwitch(_ *Tree, _ *group, value string) (string, error) {
	if value != "0" && value != "1" {
		return "", syscall.EINVAL
	}
	return value, nil
}

// setIdle is refused by the root. A group that becomes idle loses its shares, and has those of a new group when it is idle no longer.
func setIdle(t *Tree, g *group, value string) (string, error) {
	if g.parent == nil {
		return "", syscall.EINVAL
	}
	set, err := setSwitch(t, g, value)
	if err == nil && set != g.content["cpu.idle"] {
		for file, whileIdle := range map[string]string{"cpu.shares": idleShares, "cpu.weight": idleWeight} {
			switch _, has := g.content[file]; {
			case has && set == "1":
				g.content[file] = whileIdle
			case has:
				g.content[file] = t.rules()[file].initial
			}
		}
	}
	return set, err
}

// idleShares and idleWeight are what files of idle groups show.
const (
	idleShares = "3"
	idleWeight = "0"
)

// setShares puts what is out of bounds to the nearest bound, but takes none of an idle group or the root.
func setShares(_ *Tree, g *group, value string) (string, error) {
	shares, err := number(value)
	if err != nil || shares < 0 {
		return "", syscall.EINVAL
	}
	if g.parent == nil || g.content["cpu.idle"] == "1" {
		return "", syscall.EINVAL
	}
	return format(min(max(shares, 2), 262144)), nil
}

func setWeight(_ *Tree, g *group, value string) (string, error) {
	weight, err := number(value)
	switch {
	case err != nil || weight < 0:
		return "", syscall.EINVAL
	case weight < 1 || weight > 10000:
		return "", syscall.ERANGE
	case g.content["cpu.idle"] == "1":
		return "", syscall.EINVAL
	}
	return format(weight), nil
}

// setMemoryNodes knows one node.
func setMemoryNodes(_ *Tree, _ *group, value string) (string, error) {
	nodes, err := cpuset.Parse(value)
	if err != nil || !cpuset.Of(0).ContainsAll(nodes) {
		return "", syscall.EINVAL
	}
	return nodes.String(), nil
}

// bytes parses an amount with the suffixes that the kernel knows, to whole pages.
func (t *Tree) bytes(value string) (int64, error) {
	shift := 0
	if value != "" {
		shift = map[byte]int{'k': 10, 'm': 20, 'g': 30, 't': 40}[strings.ToLower(value[len(value)-1:])[0]]
	}
	if shift > 0 {
		value = value[:len(value)-1]
	}
	parsed, err := strconv.ParseUint(value, 0, 64)
	if err != nil {
		return 0, syscall.EINVAL
	}
	if parsed > math.MaxInt64>>shift {
		parsed = math.MaxInt64 >> shift
	}
	return int64(parsed) << shift / t.page * t.page, nil
}

// setBytes knows "max" for all there is, whatever the version, and no number below zero.
func setBytes(t *Tree, _ *group, value string) (string, error) {
	if value == "max" {
		return value, nil
	}
	amount, err := t.bytes(value)
	if err != nil {
		return "", err
	}
	if amount >= math.MaxInt64/t.page*t.page {
		return "max", nil
	}
	return format(amount), nil
}

// setPageCacheV1 and setPageCacheV2 take no more page cache than the group may have memory.
func setPageCacheV1(t *Tree, g *group, value string) (string, error) {
	return setPageCache(t, g, value, "memory.limit_in_bytes")
}

func setPageCacheV2(t *Tree, g *group, value string) (string, error) {
	return setPageCache(t, g, value, "memory.max")
}

func setPageCache(t *Tree, g *group, value, limit string) (string, error) {
	amount, err := t.bytes(value)
	if err != nil {
		return "", err
	}
	if most, err := number(g.content[limit]); err == nil && amount > most {
		return "", syscall.EINVAL
	}
	return format(amount), nil
}

// setLimitV1 refuses a limit below what is in use, of which nothing can be reclaimed here, and one of the root.
func setLimitV1(t *Tree, g *group, value string) (string, error) {
	if g.parent == nil {
		return "", syscall.EINVAL
	}
	if value == "-1" {
		return unlimitedV1, nil
	}
	amount, err := t.bytes(value)
	if err != nil {
		return "", err
	}
	if used, _ := number(g.content["memory.usage_in_bytes"]); amount < used {
		return "", syscall.EBUSY
	}
	return format(amount), nil
}

// reclaim takes file pages that were not used lately, and reports when that is not enough.
func reclaim(t *Tree, g *group, value string) (string, error) {
	wanted, err := t.bytes(value)
	if err != nil {
		return "", err
	}
	used, _ := number(g.content["memory.current"])
	var inactive int64
	lines := strings.Split(g.content["memory.stat"], "\n")
	for i, line := range lines {
		if text, found := strings.CutPrefix(line, "inactive_file "); found {
			inactive, _ = number(text)
			lines[i] = "inactive_file " + format(inactive-min(inactive, wanted))
		}
	}
	g.content["memory.stat"] = strings.Join(lines, "\n")
	g.content["memory.current"] = format(used - min(inactive, wanted))
	if inactive < wanted {
		return "", syscall.EAGAIN
	}
	return "", nil
}
