//! People, members, and the caller's session. An invitation is not repeated after an unknown
//! outcome: the first token would be lost.

use assay_api::people::{
    AddMember, Member, MemberList, Person, PersonList, Role, Session, SetMember, SetPerson,
};
use assay_core::id::PersonId;
use reqwest::Method;

use crate::call::{Client, Repeat};
use crate::error::Error;
use crate::tenants::of_tenant;

impl Client {
    /// The caller's session: person or key, tenant and scopes.
    pub async fn session(&self) -> Result<Session, Error> {
        self.json(self.request(Method::GET, &["session"]), Repeat::Safe).await
    }

    pub async fn people(&self) -> Result<PersonList, Error> {
        Ok(PersonList { items: self.every(&["people"], None).await?, next: None })
    }

    pub async fn set_person(&self, person: PersonId, change: &SetPerson) -> Result<Person, Error> {
        let request = self.request(Method::PATCH, &["people", &person.to_string()]);
        self.json(request.json(change), Repeat::Safe).await
    }

    /// Invites a person; only this answer contains the invitation.
    pub async fn invite_person(&self, person: PersonId) -> Result<Person, Error> {
        let request = self.request(Method::POST, &["people", &person.to_string(), "invitation"]);
        self.json(request, Repeat::Unsafe).await
    }

    /// The members of the given tenant, or of your own.
    pub async fn members(&self, tenant: Option<&str>) -> Result<MemberList, Error> {
        Ok(MemberList { items: self.every(&["members"], tenant).await?, next: None })
    }

    /// Adds a member; for a person without an account, only this answer contains the invitation.
    pub async fn add_member(&self, member: &AddMember) -> Result<Member, Error> {
        self.json(self.request(Method::POST, &["members"]).json(member), Repeat::Unsafe).await
    }

    pub async fn set_role(
        &self,
        person: PersonId,
        tenant: Option<&str>,
        role: Role,
    ) -> Result<Member, Error> {
        let request = self.request(Method::PATCH, &["members", &person.to_string()]);
        self.json(of_tenant(request, tenant).json(&SetMember { role }), Repeat::Safe).await
    }

    pub async fn remove_member(&self, person: PersonId, tenant: Option<&str>) -> Result<(), Error> {
        let request = self.request(Method::DELETE, &["members", &person.to_string()]);
        self.send(of_tenant(request, tenant), Repeat::Unsafe).await.map(drop)
    }
}
