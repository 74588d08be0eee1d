# Installs chuhe-worker from a release on Windows: reads the release file, fetches its program,
# checks the SHA-256, and installs it. The layout is that of scripts/install.sh and of the updates.
#
#   $env:CHUHE_RELEASES = "https://…"; powershell -ExecutionPolicy Bypass -File install.ps1 [FOLDER]
#
# CHUHE_RELEASES is an address, or a folder; by default the folder of this script. With
# CHUHE_UPDATE_KEY, and minisign on this machine, the release's signature is checked as well.
# FOLDER is %LOCALAPPDATA%\chuhe by default.
param([string]$Folder = (Join-Path $env:LOCALAPPDATA "chuhe"))
Set-StrictMode -Version Latest
$ErrorActionPreference = "Stop"
$ProgressPreference = "SilentlyContinue"

function Stop-Install([string]$Why) {
    [Console]::Error.WriteLine("install.ps1: $Why")
    exit 2
}

$releases = if ($env:CHUHE_RELEASES) { $env:CHUHE_RELEASES.TrimEnd("/") } else { $PSScriptRoot }
if ($releases -match "^http://" -and $releases -notmatch "^http://(127\.0\.0\.1|localhost):") {
    Stop-Install "${releases}: releases are fetched by https only"
}
if ($env:PROCESSOR_ARCHITECTURE -ne "AMD64") { Stop-Install "there are no releases for $env:PROCESSOR_ARCHITECTURE" }
$system = "windows-x86_64"
$name = "chuhe-worker-$system"

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
    if ($env:CHUHE_UPDATE_KEY) {
        if (-not (Get-Command minisign -ErrorAction SilentlyContinue)) {
            Stop-Install "a key was given, but minisign, which checks signatures, is not there"
        }
        Get-Part "$name.release.minisig" "release.minisig"
        & minisign -V -q -P $env:CHUHE_UPDATE_KEY -m (Join-Path $new "release")
        if ($LASTEXITCODE -ne 0) { Stop-Install "the release's signature is not by this key" }
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
    New-Item -ItemType Directory -Force $Folder | Out-Null
    $program = Join-Path $Folder "chuhe-worker.exe"
    # A running program can be renamed, but not replaced.
    if (Test-Path $program) { Move-Item -Force $program "$program.old" }
    Move-Item (Join-Path $new "chuhe-worker.exe") $program
    Write-Output "installed $program $($release.version); next: $program configure"
} finally {
    Remove-Item -Recurse -Force $new
}
