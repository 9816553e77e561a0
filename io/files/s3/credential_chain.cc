#include "io/files/s3/credential_chain.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/file_system.h"
#include "io/files/http/http_client.h"
#include "io/files/s3/credential_reply.h"
#include "io/files/s3/process_output.h"
#include "io/files/s3/request_signer.h"
#include "io/files/s3/store_reply.h"
#include "io/files/s3/utc_time.h"

namespace headrace::s3 {
namespace {

// Outside of Amazon's machines nothing answers.
constexpr int64_t kNearMs = 1000;
constexpr int64_t kTokenServiceMs = 30'000;
constexpr int64_t kMostFileBytes = int64_t{1} << 20;
constexpr std::string_view kContainerHost = "http://169.254.170.2";
constexpr const char* kMachineHost = "http://169.254.169.254";
constexpr const char* kMachineRoles = "/latest/meta-data/iam/security-credentials/";

using Found = absl::StatusOr<std::optional<Credentials>>;

std::string_view TrimmedText(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string Setting(const Profile& profile, std::string_view name) {
  const auto found = profile.find(name);
  return found == profile.end() ? std::string() : found->second;
}

std::string FirstOf(std::string first, std::string second) { return first.empty() ? second : first; }

// nullopt: there is no such file.
absl::StatusOr<std::optional<std::string>> SmallFile(const std::string& path) {
  const FileSystem& files = *LocalFileSystem();
  const absl::StatusOr<FileStat> stat = files.Stat(path);
  if (!stat.ok()) {
    if (KindOf(stat.status()) == ErrorKind::kNotFound) return std::nullopt;
    return stat.status();
  }
  if (stat->size > kMostFileBytes) return DataError(path, " is too long for a file of profiles or a token");
  HEADRACE_ASSIGN_OR_RETURN(const Tensor read, files.Read(path));
  return std::optional<std::string>(std::string(read.bytes_value()));
}

absl::StatusOr<std::string> TokenOfFile(const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const std::optional<std::string> text, SmallFile(path));
  if (!text.has_value()) return NotFoundError(path, ": not found, where the environment says that a token is");
  return std::string(TrimmedText(*text));
}

absl::StatusOr<Profiles> ProfilesOfFile(const std::string& path, ProfileNames names) {
  HEADRACE_ASSIGN_OR_RETURN(const std::optional<std::string> text, SmallFile(path));
  if (!text.has_value()) return Profiles();
  return ParseProfiles(path, *text, names);
}

std::string PathOfProfiles(const Environment& environment, const char* variable, std::string_view usual) {
  std::string path = environment(variable);
  const std::string home = environment("HOME");
  if (path.empty()) return home.empty() ? std::string() : Cat(home, usual);
  if (path.starts_with("~/")) return Cat(home, std::string_view(path).substr(1));
  return path;
}

// The host of a URL, without its port.
std::string_view HostOf(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  url.remove_prefix(scheme + 3);
  url = url.substr(0, std::min(url.find_first_of("/?#"), url.size()));
  url = url.substr(url.rfind('@') + 1);
  if (url.starts_with('[')) return url.substr(0, std::min(url.find(']'), url.size()) + 1);
  return url.substr(0, std::min(url.find(':'), url.size()));
}

bool IsLoopbackAddress(std::string_view host) {
  const bool numbers = host.find_first_not_of("0123456789.") == std::string_view::npos;
  return host == "localhost" || host == "[::1]" || (host.starts_with("127.") && numbers);
}

// Tokens are sent to these hosts without TLS.
bool MayHaveToken(std::string_view url) {
  if (url.starts_with("https://")) return true;
  const std::string_view host = HostOf(url);
  return IsLoopbackAddress(host) || host == "169.254.170.2" || host == "169.254.170.23" || host == "[fd00:ec2::23]";
}

http::Reach NearReach() {
  http::Reach reach;
  reach.connect_ms = kNearMs;
  reach.idle_ms = kNearMs;
  return reach;
}

http::Reach ServiceReach(const CredentialPlace& place) {
  http::Reach reach;
  reach.ca_file = place.ca_file;
  reach.proxy = place.proxy;
  return reach;
}

class CredentialSearch {
 public:
  explicit CredentialSearch(const CredentialPlace& place)
      : place_(place), near_(place.transport, NearReach()), service_(place.transport, ServiceReach(place)) {}

  absl::StatusOr<Credentials> Find() {
    using Step = Found (CredentialSearch::*)();
    for (const Step step : {&CredentialSearch::OfWebIdentity, &CredentialSearch::OfProfiles,
                            &CredentialSearch::OfContainer, &CredentialSearch::OfMachine}) {
      HEADRACE_ASSIGN_OR_RETURN(std::optional<Credentials> found, (this->*step)());
      if (found.has_value()) return *std::move(found);
    }
    return NotFoundError(
        "no credentials for S3 were found in storage=, the environment (AWS_ACCESS_KEY_ID), a web identity, the "
        "profile '",
        ProfileName(place_.profile, place_.environment), "', the container and the machine",
        machine_.empty() ? "" : " (", machine_, machine_.empty() ? "" : ")",
        "; give them, or set storage={\"s3\": {\"anonymous\": True}} for public buckets");
  }

 private:
  std::string Variable(const char* name) const { return place_.environment(name); }

  Found OfWebIdentity() {
    const std::string file = Variable("AWS_WEB_IDENTITY_TOKEN_FILE");
    const std::string role = Variable("AWS_ROLE_ARN");
    if (file.empty() || role.empty() || !place_.profile.empty()) return std::nullopt;
    return WebIdentity(file, role, Variable("AWS_ROLE_SESSION_NAME"));
  }

  Found WebIdentity(const std::string& file, const std::string& role, const std::string& session) {
    HEADRACE_ASSIGN_OR_RETURN(const std::string token, TokenOfFile(file));
    return FromTokenService({{"Action", "AssumeRoleWithWebIdentity"},
                             {"RoleArn", role},
                             {"RoleSessionName", SessionName(session)},
                             {"Version", "2011-06-15"},
                             {"WebIdentityToken", token}},
                            nullptr);
  }

  Found OfProfiles() {
    HEADRACE_ASSIGN_OR_RETURN(profiles_, ReadProfiles(place_.environment));
    const std::string name = ProfileName(place_.profile, place_.environment);
    const bool asked = !place_.profile.empty() || !Variable("AWS_PROFILE").empty();
    if (!profiles_.contains(name)) {
      if (!asked) return std::nullopt;
      return NotFoundError("the profile files have no profile '", name, "'; check profile and AWS_PROFILE");
    }
    HEADRACE_ASSIGN_OR_RETURN(std::optional<Credentials> found, OfProfile(name));
    if (found.has_value() || !asked) return found;
    return NotFoundError("the profile '", name, "' has no credentials; add keys, a role or a credential_process to it");
  }

  // Goes from roles to the profiles that they are assumed with, and then back.
  Found OfProfile(const std::string& first) {
    std::vector<std::string> chain;
    std::optional<Credentials> source;
    for (std::string name = first;;) {
      const auto profile = profiles_.find(name);
      if (profile == profiles_.end()) {
        return NotFoundError("the profile files have no profile '", name, "', which source_profile of '", chain.back(),
                             "' names");
      }
      const bool again = std::find(chain.begin(), chain.end(), name) != chain.end();
      const std::string next = Setting(profile->second, "source_profile");
      const bool is_role = !Setting(profile->second, "role_arn").empty() && !next.empty();
      // A role may name its own profile, whose keys it is assumed with.
      if (!is_role || (again && chain.back() == name)) {
        HEADRACE_ASSIGN_OR_RETURN(source, OfPlainProfile(name, profile->second, again));
        break;
      }
      if (again) return GraphError("the profile '", name, "' is its own source_profile; name one that has keys");
      chain.push_back(name);
      name = next;
    }
    while (source.has_value() && !chain.empty()) {
      HEADRACE_ASSIGN_OR_RETURN(source, Assume(profiles_[chain.back()], *source));
      chain.pop_back();
    }
    return source;
  }

  // Without a source_profile. `keys_only`: its role is being assumed.
  Found OfPlainProfile(const std::string& name, const Profile& profile, bool keys_only) {
    const std::string role = Setting(profile, "role_arn");
    if (!role.empty() && !keys_only) {
      const std::string file = Setting(profile, "web_identity_token_file");
      if (!file.empty()) return WebIdentity(file, role, Setting(profile, "role_session_name"));
      HEADRACE_ASSIGN_OR_RETURN(const std::optional<Credentials> source, OfNamedSource(name, profile));
      return source.has_value() ? Assume(profile, *source) : Found(std::nullopt);
    }
    Credentials keys;
    keys.access_key = Setting(profile, "aws_access_key_id");
    keys.secret_key = Setting(profile, "aws_secret_access_key");
    keys.token = Setting(profile, "aws_session_token");
    if (!keys.access_key.empty() && !keys.secret_key.empty()) return keys;
    const std::string command = Setting(profile, "credential_process");
    if (!command.empty()) return OfProcess(name, command);
    if (profile.contains("sso_session") || profile.contains("sso_start_url")) {
      return UnsupportedError("the profile '", name,
                              "' logs in by SSO, which is not supported; run: eval \"$(aws configure "
                              "export-credentials --format env --profile ",
                              name, ")\"");
    }
    return std::nullopt;
  }

  Found OfNamedSource(const std::string& name, const Profile& profile) {
    const std::string source = Setting(profile, "credential_source");
    if (source == "Environment") {
      HEADRACE_ASSIGN_OR_RETURN(std::optional<Credentials> found, CredentialsAtHand({}, place_.environment));
      if (found.has_value()) return found;
      return NotFoundError("the environment has no keys, which credential_source of the profile '", name, "' names");
    }
    if (source == "EcsContainer") return OfContainer();
    if (source == "Ec2InstanceMetadata") return OfMachine();
    return GraphError("the profile '", name,
                      "' has a role_arn, but no source_profile, credential_source (Environment, EcsContainer or "
                      "Ec2InstanceMetadata) or web_identity_token_file");
  }

  Found OfProcess(const std::string& name, const std::string& command) {
    absl::StatusOr<std::string> output = OutputOfCommand(command);
    absl::StatusOr<Credentials> found =
        output.ok() ? ParseCredentialJson(*output) : absl::StatusOr<Credentials>(output.status());
    if (!found.ok()) return Reworded(found.status(), Cat("the profile '", name, "': ", found.status().message()));
    return *std::move(found);
  }

  Found Assume(const Profile& profile, const Credentials& source) {
    std::vector<http::Header> form = {{"Action", "AssumeRole"},
                                      {"RoleArn", Setting(profile, "role_arn")},
                                      {"RoleSessionName", SessionName(Setting(profile, "role_session_name"))},
                                      {"Version", "2011-06-15"}};
    for (const auto& [parameter, setting] :
         {std::pair{"ExternalId", "external_id"}, std::pair{"DurationSeconds", "duration_seconds"}}) {
      const std::string value = Setting(profile, setting);
      if (!value.empty()) form.push_back({parameter, value});
    }
    if (profile.contains("mfa_serial")) {
      return UnsupportedError("a role that asks for a code of a device (mfa_serial) cannot be assumed here");
    }
    return FromTokenService(std::move(form), &source);
  }

  std::string SessionName(const std::string& given) const {
    return given.empty() ? Cat("headrace-", place_.now()) : given;
  }

  std::string TokenService() const {
    const std::string given = FirstOf(Variable("AWS_ENDPOINT_URL_STS"), Variable("AWS_ENDPOINT_URL"));
    if (!given.empty()) return given.back() == '/' ? given : given + '/';
    if (place_.region.empty()) return "https://sts.amazonaws.com/";
    const std::string_view china = place_.region.starts_with("cn-") ? ".cn" : "";
    return Cat("https://sts.", place_.region, ".amazonaws.com", china, "/");
  }

  // `signer`: null where the token in the form is what the service checks.
  Found FromTokenService(std::vector<http::Header> form, const Credentials* signer) {
    const auto body = std::make_shared<const std::string>(QueryText(std::move(form)));
    http::Call call;
    call.name = "the token service (STS)";
    call.purpose = http::Purpose::kList;
    call.request.method = "POST";
    call.request.url = TokenService();
    call.request.headers = {{"Content-Type", "application/x-www-form-urlencoded"}};
    call.request.body = {*body};
    call.request.deadline_ms = kTokenServiceMs;
    const std::string digest = signer == nullptr ? "" : PayloadDigest(*place_.transport, {*body});
    // Keeps the body, too.
    call.prepare = [this, signer, digest, body](http::Request& attempt, int64_t /*received*/) {
      if (signer == nullptr) return absl::OkStatus();
      const SigningScope scope{FirstOf(place_.region, "us-east-1"), "sts", SigningTime(place_.now())};
      SignRequest(*place_.transport, digest, scope, *signer, attempt);
      return absl::OkStatus();
    };
    HEADRACE_ASSIGN_OR_RETURN(const http::Reply reply, service_.Run(std::move(call)));
    if (reply.head.status != 200) {
      return RefusedError("the token service (STS)", "use", reply,
                          signer == nullptr ? std::vector<std::string_view>()
                                            : std::vector<std::string_view>{signer->access_key, signer->token});
    }
    HEADRACE_ASSIGN_OR_RETURN(Credentials found, ParseStsReply(reply.body));
    return found;
  }

  Found OfContainer() {
    const std::string relative = Variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    const std::string full = Variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    if ((relative.empty() && full.empty()) || !place_.profile.empty()) return std::nullopt;
    const std::string url = relative.empty() ? full : Cat(kContainerHost, relative);
    if (!MayHaveToken(url)) {
      return UnsupportedError(
          "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor an address of this machine or its container "
          "service");
    }
    std::string token = Variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
    const std::string file = Variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    if (!file.empty()) {
      HEADRACE_ASSIGN_OR_RETURN(token, TokenOfFile(file));
    }
    std::vector<http::Header> headers;
    if (!token.empty()) headers.push_back({"Authorization", token});
    http::HttpClient& client = url.starts_with("https://") ? service_ : near_;
    HEADRACE_ASSIGN_OR_RETURN(const http::Reply reply, Ask(client, "GET", url, std::move(headers)));
    if (reply.head.status != 200) return RefusedError("the credentials of the container", "get", reply, {token});
    HEADRACE_ASSIGN_OR_RETURN(Credentials found, ParseCredentialJson(reply.body));
    return found;
  }

  // A machine that does not answer, or has no role, has no credentials.
  Found OfMachine() {
    if (Variable("AWS_EC2_METADATA_DISABLED") == "true") return std::nullopt;
    std::string host = FirstOf(Variable("AWS_EC2_METADATA_SERVICE_ENDPOINT"), kMachineHost);
    while (host.ends_with('/')) host.pop_back();
    const absl::StatusOr<http::Reply> session =
        Ask(near_, "PUT", host + "/latest/api/token", {{"x-aws-ec2-metadata-token-ttl-seconds", "21600"}});
    if (!session.ok()) {
      machine_ = "it does not answer";
      return std::nullopt;
    }
    if (session->head.status != 200) {
      machine_ = Cat("status ", session->head.status, " for a token");
      return std::nullopt;
    }
    const std::vector<http::Header> headers = {{"x-aws-ec2-metadata-token", std::string(TrimmedText(session->body))}};
    HEADRACE_ASSIGN_OR_RETURN(const http::Reply roles, Ask(near_, "GET", host + kMachineRoles, headers));
    const std::string_view first = TrimmedText(roles.body);
    const std::string role(TrimmedText(first.substr(0, first.find('\n'))));
    if (roles.head.status != 200 || role.empty()) {
      machine_ = "it has no role";
      return std::nullopt;
    }
    HEADRACE_ASSIGN_OR_RETURN(const http::Reply reply, Ask(near_, "GET", host + kMachineRoles + role, headers));
    if (reply.head.status != 200) return RefusedError("the credentials of the machine", "get", reply, {});
    HEADRACE_ASSIGN_OR_RETURN(Credentials found, ParseCredentialJson(reply.body));
    return found;
  }

  absl::StatusOr<http::Reply> Ask(http::HttpClient& client, std::string method, std::string url,
                                  std::vector<http::Header> headers) {
    http::Call call;
    call.name = "credentials";
    call.purpose = http::Purpose::kList;
    call.request.method = std::move(method);
    call.request.url = std::move(url);
    call.request.headers = std::move(headers);
    call.request.deadline_ms = kNearMs;
    call.most_body = kMostFileBytes;
    // Whatever it answers, it is asked once.
    call.judge = [](const http::Head& /*head*/, std::string_view /*body*/) { return http::Verdict::kResult; };
    call.may_repeat = false;
    call.most_attempts = 1;
    return client.Run(std::move(call));
  }

  const CredentialPlace& place_;
  http::HttpClient near_;
  http::HttpClient service_;
  Profiles profiles_;
  std::string machine_;  // why the machine has none
};

}  // namespace

std::string ProfileName(const std::string& given, const Environment& environment) {
  const std::string named = FirstOf(given, FirstOf(environment("AWS_PROFILE"), environment("AWS_DEFAULT_PROFILE")));
  return FirstOf(named, "default");
}

absl::StatusOr<Profiles> ReadProfiles(const Environment& environment) {
  const std::string config = PathOfProfiles(environment, "AWS_CONFIG_FILE", "/.aws/config");
  const std::string keys = PathOfProfiles(environment, "AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials");
  Profiles profiles;
  if (!config.empty()) {
    HEADRACE_ASSIGN_OR_RETURN(profiles, ProfilesOfFile(config, ProfileNames::kWithWord));
  }
  if (!keys.empty()) {
    HEADRACE_ASSIGN_OR_RETURN(const Profiles of_keys, ProfilesOfFile(keys, ProfileNames::kPlain));
    MergeProfiles(profiles, of_keys);
  }
  return profiles;
}

absl::StatusOr<std::optional<Credentials>> CredentialsAtHand(const StorageSettings& settings,
                                                             const Environment& environment) {
  Credentials found;
  if (settings.anonymous) {
    found.anonymous = true;
    return found;
  }
  if (!settings.access_key.empty() || !settings.secret_key.empty()) {
    found.access_key = settings.access_key;
    found.secret_key = settings.secret_key;
    found.token = settings.token;
    if (!found.access_key.empty() && !found.secret_key.empty()) return found;
    return GraphError("storage= has only one of access_key and secret_key; give both");
  }
  // A profile that is named in code counts before the environment.
  if (!settings.profile.empty()) return std::nullopt;
  found.access_key = environment("AWS_ACCESS_KEY_ID");
  found.secret_key = environment("AWS_SECRET_ACCESS_KEY");
  found.token = environment("AWS_SESSION_TOKEN");
  if (found.access_key.empty() && found.secret_key.empty()) return std::nullopt;
  if (!found.access_key.empty() && !found.secret_key.empty()) return found;
  return GraphError(
      "the environment has only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; set both, or neither");
}

absl::StatusOr<Credentials> FindCredentials(const CredentialPlace& place) { return CredentialSearch(place).Find(); }

}  // namespace headrace::s3
