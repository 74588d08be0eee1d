# Installs chuhe-worker from a release on Windows: reads the release file, fetches its program,
# checks the SHA-256, and installs it. The layout is that of scripts/install.sh and of the updates.
#
#   $env:CHUHE_RELEASES = "https://…"; powershell -ExecutionPolicy Bypass -File install.ps1 [FOLDER]
#
# CHUHE_RELEASES is an address, or a folder. By default it is the folder of this script, if a
# release is there, and else the address where the release was published. With minisign on this
# machine, the release's signature is checked as well, by the key of the release that this script
# came with, or by CHUHE_UPDATE_KEY. FOLDER is %LOCALAPPDATA%\chuhe by default.
param([string]$Folder = (Join-Path $env:LOCALAPPDATA "chuhe"))
Set-StrictMode -Version Latest
$ErrorActionPreference = "Stop"
$ProgressPreference = "SilentlyContinue"

function Stop-Install([string]$Why) {
    [Console]::Error.WriteLine("install.ps1: $Why")
    exit 2
}

$system = "windows-x86_64"
$name = "chuhe-worker-$system"
# A release has its address here.
$release_home = ""
$releases = if ($env:CHUHE_RELEASES) { $env:CHUHE_RELEASES.TrimEnd("/") } else { $PSScriptRoot }
if (-not $env:CHUHE_RELEASES -and $release_home -and -not (Test-Path (Join-Path $releases "$name.release"))) {
    $releases = $release_home
}
if ($releases -match "^http://" -and $releases -notmatch "^http://(127\.0\.0\.1|localhost):") {
    Stop-Install "${releases}: releases are fetched by https only"
}
# A PowerShell of 32 bits names its machine in the first one.
$machine = if ($env:PROCESSOR_ARCHITEW6432) { $env:PROCESSOR_ARCHITEW6432 } else { $env:PROCESSOR_ARCHITECTURE }
if ($machine -ne "AMD64") { Stop-Install "there are no releases for $machine" }
# A release has its key here.
$release_key = ""
$key = if ($env:CHUHE_UPDATE_KEY) { $env:CHUHE_UPDATE_KEY } else { $release_key }

$new = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
New-Item -ItemType Directory $new | Out-Null
try {
    function Get-Part([string]$From, [string]$To) {
        try {
            if ($releases -match "^https?://") {
                [Net.ServicePointManager]::SecurityProtocol = [Net.SecurityProtocolType]::Tls12
                Invoke-WebRequest -UseBasicParsing "$releases/$From" -OutFile (Join-Path $new $To)
            } else {
                Copy-Item (Join-Path $releases $From) (Join-Path $new $To)
            }
        } catch {
            Stop-Install "$releases/$From could not be fetched: $($_.Exception.Message)"
        }
    }
    Get-Part "$name.release" "release"
    if ($key -and (Get-Command minisign -ErrorAction SilentlyContinue)) {
        Get-Part "$name.release.minisig" "release.minisig"
        & minisign -V -q -P $key -m (Join-Path $new "release")
        if ($LASTEXITCODE -ne 0) { Stop-Install "the release's signature is not by this key" }
    } elseif ($env:CHUHE_UPDATE_KEY) {
        Stop-Install "a key was given, but minisign, which checks signatures, is not there"
    } elseif ($key) {
        [Console]::Error.WriteLine("install.ps1: the release's signature is not checked, since minisign is not there")
    }
    $is_release = $false
    try {
        $release = Get-Content -Raw (Join-Path $new "release") | ConvertFrom-Json
        $is_release = $release.system -eq $system -and $release.version -match "^[0-9a-z._-]+$" -and $release.sha256
    } catch { }
    if (-not $is_release) { Stop-Install "$releases/$name.release is no release for $system" }
    Get-Part "$name-$($release.version)" "chuhe-worker.exe"
    $found = (Get-FileHash -Algorithm SHA256 (Join-Path $new "chuhe-worker.exe")).Hash.ToLower()
    if ($found -ne $release.sha256) {
        Stop-Install "the program has the SHA-256 $found, not $($release.sha256); nothing was installed"
    }
    $program = Join-Path $Folder "chuhe-worker.exe"
    try {
        New-Item -ItemType Directory -Force $Folder | Out-Null
        # Copied beside and renamed. A running program can be renamed, but not replaced.
        Copy-Item -Force (Join-Path $new "chuhe-worker.exe") "$program.new"
        if (Test-Path $program) { Move-Item -Force $program "$program.old" }
        Move-Item "$program.new" $program
    } catch {
        if (-not (Test-Path $program) -and (Test-Path "$program.old")) { Move-Item "$program.old" $program }
        Stop-Install "$Folder cannot be written to: $($_.Exception.Message)"
    }
    Write-Output "installed $program $($release.version); next: $program configure"
} finally {
    Remove-Item -Recurse -Force $new
}
