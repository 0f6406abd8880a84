package finding

// Code is a stable finding code, KOORD and four digits. A retired code is never used again.
type Code string

// Codes of the workbench and of the connection to the cluster.
const (
	ClusterUnreachable     Code = "KOORD0001"
	Forbidden              Code = "KOORD0002"
	NotFound               Code = "KOORD0003"
	DiagnosticsUnavailable Code = "KOORD0004"
	SchedulerUnavailable   Code = "KOORD0005"
	NotInstalled           Code = "KOORD0006"
	InvalidArgument        Code = "KOORD0007"
	TerminalTooSmall       Code = "KOORD0008"
)

// Codes of a node's measurements.
const (
	MetricStale   Code = "KOORD0101"
	MetricExpired Code = "KOORD0102"
	MetricAbsent  Code = "KOORD0103"
	MetricInvalid Code = "KOORD0104"
)

// Codes of the slo-controller-config ConfigMap.
const (
	ConfigMalformed    Code = "KOORD0201"
	ConfigOverlap      Code = "KOORD0202"
	ConfigOutOfRange   Code = "KOORD0203"
	ConfigMissing      Code = "KOORD0204"
	ColocationDisabled Code = "KOORD0205"
)

// Codes of the sandbox.
const (
	SandboxBinariesMissing Code = "KOORD0501"
	SandboxPortTaken       Code = "KOORD0502"
	SandboxDiskFull        Code = "KOORD0503"
	SandboxForeignOwner    Code = "KOORD0504"
	SandboxComponentFailed Code = "KOORD0505"
	SandboxNotRunning      Code = "KOORD0506"
	SandboxTraceInvalid    Code = "KOORD0507"
)

// Codes of installation.
const (
	InstallFailed   Code = "KOORD0601"
	ReleaseNotFound Code = "KOORD0602"
	ReleaseForeign  Code = "KOORD0603"
)

// Codes of scheduling refusals by the system's own plugins.
const (
	LoadMetricExpired      Code = "KOORD1101"
	LoadThresholdExceeded  Code = "KOORD1102"
	LoadAggregatedExceeded Code = "KOORD1103"
)

// Codes of scheduling refusals by Kubernetes' own plugins.
const (
	InsufficientResources Code = "KOORD1901"
	UntoleratedTaint      Code = "KOORD1902"
	NodeAffinityMismatch  Code = "KOORD1903"
	NodeUnschedulable     Code = "KOORD1904"
	NodeNameMismatch      Code = "KOORD1905"
	PortConflict          Code = "KOORD1906"
	TopologySpread        Code = "KOORD1907"
	PodAffinity           Code = "KOORD1908"
	VolumeBinding         Code = "KOORD1909"
	VolumeZone            Code = "KOORD1910"
	VolumeLimits          Code = "KOORD1911"
	VolumeRestrictions    Code = "KOORD1912"
	DynamicResources      Code = "KOORD1913"
	SchedulingGated       Code = "KOORD1914"
	OtherScheduler        Code = "KOORD1915"
	OtherPlugin           Code = "KOORD1999"
)
